"""``manage.py catchment_worker``."""

from __future__ import annotations

from typing import Any

from catchment.contrib.django.program import ProgramCommand


class Command(ProgramCommand):
    help = "Run the tasks of this project. The options are those of 'catchment worker'."
    name = "worker"
    place = "catchment.cli.worker:worker"
    without = ("app", "dsn")

    def given(self, options: dict[str, Any]) -> list[str]:  # noqa: ARG002
        return ["--app", "catchment.contrib.django:app"]
