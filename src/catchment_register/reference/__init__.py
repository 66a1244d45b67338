"""The rules of derivation once more, slow and plain: what the pipeline publishes is compared with this.

It shares no code and no SQL with the pipeline. It goes through units, days and periods one by one, computes with exact
fractions, and knows nothing of batches, differences or partitions. ``catchment register verify --reference`` and the
tests use it; for more than some ten thousand units it takes too long.
"""

from __future__ import annotations

from catchment_register.reference.facets import history_facets, unit_facets
from catchment_register.reference.history import history
from catchment_register.reference.model import Period, UnitRow, all_periods

__all__ = ["Period", "UnitRow", "all_periods", "history", "history_facets", "unit_facets"]
