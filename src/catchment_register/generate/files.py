"""Writes a generated register as files: units, relationships, updates, code lists, and how to load them.

Rows are written as they are made, so memory does not grow with the register. A file has its name only once it is
complete.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TextIO

from catchment_register.errors import SettingRefused
from catchment_register.generate import activities, places, rows, shapes
from catchment_register.generate.establishments import Establishments, Informal
from catchment_register.generate.plan import Plan
from catchment_register.generate.relationships import Relationships
from catchment_register.generate.rows import Row
from catchment_register.generate.units import LegalUnit, LegalUnits

# Progress is reported once per this number of rows.
_BLOCK = 5000
# One legal unit in this number reports a new turnover.
_UPDATES = 100
# Files of code lists and of units, by the kind that loads or imports them, in the order to do so.
CODE_FILES = {
    "region": "regions.csv",
    "activity": "activities.csv",
    "sector": "sectors.csv",
    "legal_form": "legal_forms.csv",
}
UNIT_FILES = {
    "legal_unit": "legal_units.csv",
    "establishment_formal": "establishments.csv",
    "establishment_informal": "informal_establishments.csv",
    "legal_relationship": "relationships.csv",
}
UPDATES = "updates.csv"
README = "README.txt"
# How the last one begins, by which files that were made here are recognized.
_TITLE = "A made-up register"


@dataclass(frozen=True, slots=True)
class Generated:
    """Where the files are, and how many rows each has."""

    folder: Path
    counts: dict[str, int]

    @property
    def rows(self) -> int:
        return sum(self.counts.values())


def write_register(plan: Plan, folder: Path, on_units: Callable[[int], object] | None = None) -> Generated:
    """Write all files of a plan; ``on_units`` hears now and then how many legal units are done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingRefused(f"{folder} cannot be made: {error.strerror}", hint="Choose another --out.") from error
    _refuse_others(folder)
    with _Output(folder, plan.has_dates) as output:
        for kind, codes in _code_rows().items():
            columns = ("code" if kind == "legal_form" else "path", "name")
            output.open(CODE_FILES[kind], columns, is_dated=False)(codes)
        _write_units(plan, output, on_units or (lambda _: None))
        put = output.open("informal_establishments.csv", rows.INFORMAL)
        for made in Informal(plan):
            put(rows.establishment_rows(made, plan.has_dates, is_informal=True))
        put = output.open("relationships.csv", rows.RELATIONSHIP)
        put(rows.relationship_row(tie, plan.has_dates) for tie in Relationships(plan, LegalUnits(plan)))
        # Before the others get their names, because it marks them as made here.
        (folder / README).write_text(readme(plan), encoding="utf-8")
    return Generated(folder, output.counts)


def _refuse_others(folder: Path) -> None:
    """Raise if files would be replaced that were not made here."""
    names = (README, *CODE_FILES.values(), *UNIT_FILES.values(), UPDATES)
    existing = [name for name in names if (folder / name).exists()]
    if not existing:
        return
    try:
        with (folder / README).open(encoding="utf-8", errors="replace") as file:
            is_ours = file.read(len(_TITLE)) == _TITLE
    except OSError:
        is_ours = False
    if not is_ours:
        raise SettingRefused(
            f"{folder} has a file {existing[0]} that this command has not made", hint="Choose another --out."
        )


def _code_rows() -> dict[str, list[tuple[str, str]]]:
    return {
        "region": places.code_rows(),
        "activity": activities.code_rows(),
        "sector": list(shapes.SECTOR_ROWS),
        "legal_form": [(form.code, form.name) for form in shapes.FORMS],
    }


def _write_units(plan: Plan, output: _Output, on_units: Callable[[int], object]) -> None:
    """Legal units with their establishments and updates, in one pass over the legal units."""
    units = LegalUnits(plan)
    establishments = Establishments(plan, units)
    put_unit = output.open("legal_units.csv", rows.LEGAL_UNIT)
    put_establishment = output.open("establishments.csv", rows.ESTABLISHMENT)
    put_update = output.open(UPDATES, rows.UPDATE)
    for unit in units:
        put_unit(rows.legal_unit_rows(unit, plan.has_dates))
        for made in establishments.of(unit):
            put_establishment(rows.establishment_rows(made, plan.has_dates))
        if unit.bits % _UPDATES == 0:
            put_update(_update(unit, plan))
        if unit.number % _BLOCK == 0:
            on_units(unit.number)
    on_units(plan.legal_units)


def _update(unit: LegalUnit, plan: Plan) -> Iterator[Row]:
    """A new turnover of a unit that is still there."""
    if unit.life.until is None:
        turnover = rows.turnover(unit.spells[-1].employees + 1, unit.bits)
        row = [unit.ident, turnover]
        yield [*row, plan.today.replace(day=1).isoformat(), "infinity"] if plan.has_dates else row


class _Output:
    """The files that are being written, each under another name until all are complete."""

    def __init__(self, folder: Path, has_dates: bool) -> None:
        self._folder = folder
        self._has_dates = has_dates
        self._files: dict[str, TextIO] = {}
        self.counts: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for name, file in self._files.items():
            file.close()
            part = Path(file.name)
            if kind is None:
                part.replace(self._folder / name)
            else:
                part.unlink(missing_ok=True)

    def open(
        self, name: str, columns: tuple[str, ...], *, is_dated: bool = True
    ) -> Callable[[Iterable[Iterable[str]]], None]:
        """A function that writes rows to a new file."""
        file = (self._folder / f"{name}.part").open("w", encoding="utf-8", newline="")
        self._files[name] = file
        self.counts[name] = 0
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*columns, *rows.PERIOD] if is_dated and self._has_dates else columns)

        def put(lines: Iterable[Iterable[str]]) -> None:
            for line in lines:
                writer.writerow(line)
                self.counts[name] += 1

        return put


def readme(plan: Plan) -> str:
    """How to load the files, as commands for the folder they are in."""
    dates = "" if plan.has_dates else f" --valid-from {plan.valid_from}"
    update = "" if plan.has_dates else f" --valid-from {plan.today.replace(day=1)}"
    loads = "".join(f"catchment register load-codes {kind} {name}\n" for kind, name in CODE_FILES.items())
    imports = "".join(
        f"catchment register import {name} --kind {kind}{dates} --wait\n" for kind, name in UNIT_FILES.items()
    )
    return (
        f"{_TITLE} of {plan.legal_units:,} legal units, seed {plan.seed}. In this folder, with a running\n"
        "worker (catchment worker):\n\n"
        f"catchment register init --country {shapes.HOME} --activity-standard nace_v2.1 --today {plan.today}\n"
        f"{loads}{imports}"
        "\nLater, new turnovers of some:\n\n"
        f"catchment register import {UPDATES} --kind stats_update{update} --wait\n"
    )
