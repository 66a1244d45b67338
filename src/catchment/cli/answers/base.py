"""What all answers have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """What a command prints with ``--json``: these fields, always all of them, and no others."""

    model_config = ConfigDict(extra="forbid")
