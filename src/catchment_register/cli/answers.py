"""What each command of the register prints with ``--json``: one type per command, which its JSON Schema is made of."""

from __future__ import annotations

from typing import Any

ANSWERS: dict[str, Any] = {}
