"""``catchment register generate``: a made-up register as files."""

from __future__ import annotations

import time
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from catchment.commands import Json, console, print_json
from catchment_register.errors import SettingRefused
from catchment_register.generate.files import write_register
from catchment_register.generate.plan import PROFILES, choose_plan

_DEFAULTS = "of the profile"


def generate(
    out: Annotated[Path, typer.Option("--out", help="Folder for the files; created if it does not exist.")],
    legal_units: Annotated[int | None, typer.Option(show_default="1000", help="Number of legal units.")] = None,
    establishments: Annotated[
        float | None, typer.Option(show_default="0.75", help="Average number of establishments per legal unit.")
    ] = None,
    informal: Annotated[
        float | None,
        typer.Option(show_default="0.02", help="Average number of informal establishments per legal unit."),
    ] = None,
    relationships: Annotated[
        float | None, typer.Option(show_default="0.01", help="Average number of relationships per legal unit.")
    ] = None,
    years: Annotated[
        int | None, typer.Option(show_default="0", help="Years of history in which units begin, change and end.")
    ] = None,
    valid_from: Annotated[str | None, typer.Option(help="First day of the data, as 2026-01-01.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(show_default="1", help="Seed of the random numbers; each seed generates a different register."),
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help=f"Predefined sizes, which other options override: {', '.join(PROFILES)}.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Generate an artificial register of any size, as files to import.

    The same options and seed always generate the same files.
    """
    plan = choose_plan(
        profile,
        legal_units=legal_units,
        establishments=establishments,
        informal=informal,
        relationships=relationships,
        years=years,
        valid_from=None if valid_from is None else _day(valid_from),
        seed=seed,
    )
    began = time.monotonic()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=as_json or not console.is_terminal) as progress:
        bar = progress.add_task("legal units", total=plan.legal_units)
        made = write_register(plan, out, lambda done: progress.update(bar, completed=done))
    if as_json:
        print_json({"folder": str(made.folder), "today": plan.today, "rows": made.counts})
        return
    for name, count in made.counts.items():
        console.print(f"  {count:>9,}  {name}")
    seconds = max(time.monotonic() - began, 0.001)
    console.print(
        f"{made.rows:,} rows in {seconds:.1f} s. {out / 'README.txt'} tells how to load them.",
        soft_wrap=True,
        markup=False,
    )


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise SettingRefused(f"{text!r} is not a day", hint="Write it as 2026-01-01.") from None
