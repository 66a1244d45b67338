"""``CATCHMENT`` in the settings of a Django project."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS

from catchment.errors import shown
from catchment.model.settings import PREFIX
from catchment.runtime.settings import WorkerSettings

NAME = "CATCHMENT"


@dataclass(frozen=True, slots=True)
class DjangoSettings:
    """The keys of ``CATCHMENT``, in small letters. ``worker`` has the settings of workers, as texts."""

    database: str = DEFAULT_DB_ALIAS
    queue: str = "default"
    pool_size: int = 4
    migrate: bool = True
    roles: bool = False
    worker: Mapping[str, str] = field(default_factory=dict[str, str])


_KINDS: dict[str, type] = {"database": str, "queue": str, "pool_size": int, "migrate": bool, "roles": bool}
_WORKER = frozenset(WorkerSettings.model_fields)


def read_settings() -> DjangoSettings:
    """The settings as they are now: a test may override them. Raises ``ImproperlyConfigured``."""
    given: Any = getattr(settings, NAME, {})
    if not isinstance(given, Mapping):
        raise ImproperlyConfigured(f"{NAME} is {shown(given)}, expected a dict such as {{'DATABASE': 'default'}}")
    own: dict[str, Any] = {}
    worker: dict[str, str] = {}
    for key, value in cast("Mapping[Any, Any]", given).items():
        name = str(key).lower()
        if str(key) != name.upper() or name not in _KINDS.keys() | _WORKER:
            known = ", ".join(name.upper() for name in _KINDS)
            raise ImproperlyConfigured(
                f"{NAME} has the key {shown(key)}, expected one of {known}, or a setting of workers such as"
                f" WORKER_THREADS ('catchment config' lists them)"
            )
        if name in _WORKER:
            worker[name] = str(value)
        elif type(value) is not _KINDS[name]:
            raise ImproperlyConfigured(f"{NAME}['{key}'] is {shown(value)}, expected {_KINDS[name].__name__}")
        else:
            own[name] = value
    return DjangoSettings(**own, worker=worker)


def variables_of(given: DjangoSettings) -> dict[str, str]:
    """The settings of workers as variables of the environment, where an operator can override them."""
    return {f"{PREFIX}{name.upper()}": value for name, value in given.worker.items()}
