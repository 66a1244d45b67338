"""Secrets of ``catchment dashboard`` from the environment: other users of the machine can read its command line."""

from __future__ import annotations

import os
from collections.abc import Sequence

from catchment.dashboard.auth.check import Access
from catchment.dashboard.auth.proxy import TrustedProxy
from catchment.dashboard.auth.user import Role
from catchment.errors import RequestRefused, shown

PASSWORDS: dict[Role, str] = {
    "operator": "CATCHMENT_DASHBOARD_PASSWORD",
    "viewer": "CATCHMENT_DASHBOARD_VIEWER_PASSWORD",
}
TOKENS: dict[Role, str] = {
    "operator": "CATCHMENT_DASHBOARD_TOKEN",
    "viewer": "CATCHMENT_DASHBOARD_VIEWER_TOKEN",
}


def read_access(header: str | None, addresses: Sequence[str], operators: Sequence[str]) -> Access:
    """Who may use it: secrets of the environment, and the proxy of the options."""
    if (header is None) == bool(addresses):
        raise RequestRefused("--proxy-header and --proxy-from belong together", hint="Give both, or neither.")
    if header is None and operators:
        raise RequestRefused(
            f"--operator is {', '.join(map(shown, operators))}, and there is no proxy that names users",
            hint="Give --proxy-header and --proxy-from too.",
        )
    proxy = None if header is None else TrustedProxy(header, addresses=addresses, operators=operators)
    return Access(tokens=_given(TOKENS), passwords=_given(PASSWORDS), proxy=proxy)


def _given(variables: dict[Role, str]) -> dict[Role, str]:
    return {role: value for role, name in variables.items() if (value := os.environ.get(name))}
