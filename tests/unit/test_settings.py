"""Settings of a worker that cannot be meant are refused by name."""

from __future__ import annotations

import pytest

from catchment.errors import RequestRefused
from catchment.runtime.settings import WorkerSettings, read_options

NUMBERS = [n for n, field in WorkerSettings.model_fields.items() if "bool" not in str(field.annotation)]


@pytest.mark.parametrize("value", ["inf", "nan", "1e12", "99999999999999999999", "-1"])
@pytest.mark.parametrize("name", [n for n in NUMBERS if n != "metrics_host"])
def test_a_number_that_no_timer_or_column_takes_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"CATCHMENT_{name.upper()}", value)
    with pytest.raises(RequestRefused, match=name.upper()):
        read_options()
