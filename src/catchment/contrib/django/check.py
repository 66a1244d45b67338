"""What ``manage.py check`` says about Catchment."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured

from catchment.contrib.django.connections import dsn_of
from catchment.contrib.django.settings import read_settings
from catchment.errors import RequestRefused


def check_settings(app_configs: Any = None, **_: Any) -> list[CheckMessage]:  # noqa: ARG001 - Django passes it
    """The keys of ``CATCHMENT``, and the database that it names. Nothing is connected."""
    try:
        alias = read_settings().database
    except ImproperlyConfigured as error:
        return [Error(str(error), id="catchment.E001")]
    try:
        dsn_of(alias)
    except (ImproperlyConfigured, RequestRefused) as error:
        return [
            Error(
                f"Catchment cannot use the database {alias!r}: {error}",
                hint="CATCHMENT = {'DATABASE': …} names an alias of DATABASES with the engine of PostgreSQL.",
                id="catchment.E002",
            )
        ]
    return []
