"""``manage.py catchment_migrate``."""

from __future__ import annotations

from typing import Any

from catchment.contrib.django.connections import dsn_of
from catchment.contrib.django.program import ProgramCommand
from catchment.contrib.django.settings import read_settings


class Command(ProgramCommand):
    help = "Install or upgrade the schema of Catchment in the database that CATCHMENT['DATABASE'] names."
    name = "migrate"
    place = "catchment.cli.schema:migrate"
    without = ("dsn",)

    def given(self, options: dict[str, Any]) -> list[str]:
        given = read_settings()
        roles = [] if options.get("roles") is not None else ["--roles" if given.roles else "--no-roles"]
        return ["--dsn", dsn_of(given.database), *roles]
