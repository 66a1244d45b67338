"""What all answers have in common."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict

UnitType = Literal["establishment", "legal_unit", "enterprise", "power_group"]
# The last day of validity, or the first one after it.
End = date | Literal["infinity"]


class Answer(BaseModel):
    """What a command prints with ``--json``: these fields, always all of them, and no others."""

    model_config = ConfigDict(extra="forbid")
