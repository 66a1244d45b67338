"""``catchment config``: every setting with its value, and where that comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from pydantic import SecretStr, ValidationError

from catchment.cli.table_lake import LAKE_VARIABLE
from catchment.commands.options import Json
from catchment.commands.output import errors, print_json, print_rows
from catchment.errors import CatchmentError
from catchment.lake.settings import LakeSettings
from catchment.model.settings import PREFIX, Settings
from catchment.runtime.ray.settings import RaySettings
from catchment.runtime.settings import WorkerSettings
from catchment.store.connect import DSN_VARIABLE, PREPARE_VARIABLE, given_dsn, may_prepare, named
from catchment.store.embedded import DATA_VARIABLE, KEEP_VARIABLE, default_folder, keep_seconds
from catchment.store.folder_locks import DEFAULT_KEEP

SECRETS = {
    "CATCHMENT_DASHBOARD_PASSWORD": "People log in to the dashboard with it as operators.",
    "CATCHMENT_DASHBOARD_VIEWER_PASSWORD": "People log in to the dashboard with it as viewers.",
    "CATCHMENT_DASHBOARD_TOKEN": "Programs send it to the dashboard and act as operators.",
    "CATCHMENT_DASHBOARD_VIEWER_TOKEN": "Programs that only read send it to the dashboard.",
}
HIDDEN = "set, not shown"


@dataclass(frozen=True, slots=True)
class Shown:
    """A setting as it is now. ``source`` is the variable that sets it, or ``default``."""

    group: str
    setting: str
    value: Any
    source: str
    default: Any
    description: str
    problem: str | None = None


def config(
    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", help="Show only settings whose names contain this.", show_default=False)
    ] = "",
    changed: Annotated[
        bool, typer.Option("--changed", help="Show only settings that are not at their default.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show every setting, its value and the source of the value.

    Settings are environment variables. Passwords, tokens and secrets are not shown. Reports invalid values, for which
    it exits with 1, and unknown variables that begin with CATCHMENT_.
    """
    everything = [
        *_general(),
        *_dashboard(),
        *_fields("worker", WorkerSettings),
        *_fields("tables", LakeSettings),
        *_fields("ray", RaySettings),
    ]
    rows = [
        row
        for row in everything
        if text.upper() in row.setting and (not changed or row.source != "default" or row.problem)
    ]
    if as_json:
        print_json([asdict(row) for row in rows])
    else:
        shown = [{**asdict(row), "value": _text(row.value)} for row in rows]
        print_rows(
            shown,
            ["group", "setting", "value", "source"],
            as_json=False,
            empty="No settings.",
            extra=["group", "description"],
            cut=["value", "description"],
        )
    for line in _unknown([row.setting for row in everything]):
        errors.print(line, markup=False)
    problems = [row.problem for row in everything if row.problem]
    for problem in problems:
        errors.print(f"Error: {problem}", markup=False)
    if problems:
        raise typer.Exit(1)


def _general() -> Iterator[Shown]:
    """Those that are read where they are needed."""
    dsn = "The database. Without one, Catchment starts its own server."
    yield _read(DSN_VARIABLE, lambda: named(given_dsn()), named(None), dsn)
    prepare = "Prepare statements; off behind a pooler that cannot pass that on."
    yield _read(PREPARE_VARIABLE, may_prepare, True, prepare)
    folder = "Where the embedded server keeps its data."
    yield _read(DATA_VARIABLE, lambda: str(default_folder()), None, folder)
    keep = "Seconds that the embedded server stays after its last use."
    yield _read(KEEP_VARIABLE, keep_seconds, DEFAULT_KEEP, keep)
    yield _read(LAKE_VARIABLE, lambda: os.environ.get(LAKE_VARIABLE), None, "Where the data of dynamic tables are.")


def _read(name: str, value: Any, default: Any, description: str) -> Shown:
    source = name if os.environ.get(name) else "default"
    try:
        return Shown("general", name, value(), source, default, description)
    except CatchmentError as error:
        return Shown("general", name, None, source, default, description, str(error))


def _dashboard() -> Iterator[Shown]:
    for name, description in SECRETS.items():
        is_set = bool(os.environ.get(name))
        yield Shown("dashboard", name, HIDDEN if is_set else None, name if is_set else "default", None, description)


def _fields(group: str, kind: type[Settings]) -> Iterator[Shown]:
    """The settings of one part of Catchment. One that is invalid has its reason instead of a value."""
    problems: dict[str, str] = {}
    try:
        values = kind().model_dump()
    except ValidationError as error:
        problems = kind.problems(error)
        values = kind.without(problems).model_dump()
    for field, info in kind.model_fields.items():
        value = HIDDEN if isinstance(values.get(field), SecretStr) else values.get(field)
        name, source = kind.names(field)[0], kind.source(field) or "default"
        problem = problems.get(field)
        yield Shown(group, name, None if problem else value, source, info.default, (info.description or ""), problem)


def _unknown(settings: list[str]) -> Iterator[str]:
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in settings:
            close = get_close_matches(name, settings, 1)
            yield f"{name} is set in the environment, and there is no such setting." + (
                f" Did you mean {close[0]}?" if close else ""
            )


def _text(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
