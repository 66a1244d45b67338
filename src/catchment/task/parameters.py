"""The parameters of a handler, as ``signature`` reads them and ``payload`` fills them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Field:
    """One payload parameter."""

    annotation: Any
    default: Any
    is_keyword_only: bool = False

    @property
    def is_required(self) -> bool:
        """Has the parameter no default?"""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a handler or a join, and the annotation of what it returns."""

    function: str
    context: str | None
    children: str | None
    fields: Mapping[str, Field]
    returns: Any
