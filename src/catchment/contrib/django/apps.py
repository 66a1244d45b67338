"""The configuration that Django finds for ``catchment.contrib.django`` in ``INSTALLED_APPS``."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate


class CatchmentConfig(AppConfig):
    """``manage.py migrate`` installs and upgrades the schema too, unless ``CATCHMENT["MIGRATE"]`` is false."""

    name = "catchment.contrib.django"
    label = "catchment"
    verbose_name = "Catchment"

    def ready(self) -> None:
        from catchment.contrib.django.check import check_settings

        checks.register(check_settings)
        post_migrate.connect(_migrate, sender=self)


def _migrate(*, using: str, verbosity: int = 1, stdout: Any = None, **_: Any) -> None:
    from catchment.contrib.django.migrate import migrate_with_django

    migrate_with_django(using, stdout if verbosity >= 1 else None)
