"""The user of a request, and what a role may do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal
from unicodedata import category

from starlette.requests import HTTPConnection

from catchment.errors import RequestRefused, shown

Role = Literal["viewer", "operator"]
ROLES: tuple[Role, ...] = ("viewer", "operator")


@dataclass(frozen=True, slots=True)
class User:
    """A person or program that uses the dashboard. ``viewer`` reads; ``operator`` also cancels, retries and pauses.

    The name is written to the audit table with everything that the user does.
    """

    name: str
    role: Role = "viewer"

    def __post_init__(self) -> None:
        name: Any = self.name
        if not is_name(name):
            raise RequestRefused(
                f"name of a User is {shown(name)}, expected a text of 1 to 200 characters without control characters"
            )
        if self.role not in ROLES:
            raise RequestRefused(f"role of a User is {shown(self.role)}, expected viewer or operator")

    @property
    def may_act(self) -> bool:
        return self.role == "operator"


def is_name(name: object) -> bool:
    """Can a user have this name? A NUL cannot be stored, and no other control character or line break is of a name."""
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        return False
    return not any(category(sign) in ("Cc", "Cs", "Zl", "Zp") for sign in name)


Authenticate = Callable[[HTTPConnection], "Awaitable[User | None] | User | None"]
"""The host's own authentication: who sent this request? None: nobody that is known here."""
