"""Every command of the register at 60, 80 and 200 columns, in a pipe, and as JSON by its schema."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from catchment_register.cli.answers import ANSWERS
from tests.cli.walk.commands import check_complete
from tests.cli.walk.furnished import SLOTS
from tests.cli.walk.walk import Walk, Words
from tests.fixtures.register_driver import RegisterDatabase

NAME = "Nordic [bold]Fish[/] & Østlandet Maritime Holding Company of 東京 AS"
# What comes behind the words of a command: each in every width. {slot} is different each time, and
# {failed} and the like are import jobs.
CASES: dict[str, list[Words]] = {
    "register init": [("--set", "batch_enterprises=50")],
    "register load-codes": [("tag", "tags.csv")],
    "register generate": [("--out", "{slot}", "--legal-units", "20")],
    "register search": [("fish",), ("nothing",)],
    "register report history": [
        (),
        ("--resolution", "year-month", "--from", "2026"),
        ("--from", "1999", "--to", "1999"),
    ],
    "register report demography": [()],
    "register report facets": [(), ("--region", "03")],
    "register report unit": [("910000001",), ("910000004",)],
    "register report units": [("{slot}.csv",)],
    "register report codes": [("region",), ("legal_form",)],
    "register verify": [()],
    "register sql": [(f"select '{NAME}' as name, 1.5 as number, null as nothing; select 2",), ("set jit to off",)],
    "register import": [("units.csv", "--kind", "legal_unit", "--valid-from", "2020-01-01")],
    "register import-job list": [()],
    "register import-job show": [("{problems}",), ("{failed}",)],
    "register import-job errors": [("{problems}",), ("{problems}", "--file", "{slot}.errors.csv")],
    "register import-job approve": [("{approved}",)],
    "register import-job reject": [("{rejected}",)],
    "register import-job retry": [("{failed}",)],
    "register import-job delete": [("{deleted}",)],
    "register edit set": [("{slot}", f"name={NAME}", "employees=7")],
    "register edit connect": [("{slot}",)],
    "register edit primary": [("{slot}",)],
    "register edit relate": [("{slot}", "910000001", "--type", "ownership", "--percentage", "60.5")],
    "register edit unrelate": [("{slot}", "910000001")],
    "register edit end": [("{slot}", "--on", "2026-01-01")],
    "register edit delete": [("{slot}",)],
    "register derive": [("--full",)],
    "register status": [("--rounds", "3")],
    "register why": [(), ("statistical_history",), ("910000001",)],
}


def test_every_command_prints_json_and_has_a_schema_and_a_case() -> None:
    check_complete(ANSWERS, CASES, {"register demo"}, under="register ")


@pytest.mark.parametrize(
    ("widths", "most"), [((60,), 1), pytest.param((None, 60, 80, 200), None, marks=pytest.mark.long)]
)
def test_every_command_in_every_width_and_as_json(
    reg_db: RegisterDatabase,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    widths: Sequence[int | None],
    most: int | None,
) -> None:
    monkeypatch.setenv("CATCHMENT_DSN", reg_db.dsn)
    monkeypatch.chdir(tmp_path)
    jobs = _furnish(reg_db, tmp_path)

    def filled(part: str, slot: str) -> str:
        if part.startswith("{") and part[1:-1] in jobs:
            return str(jobs[part[1:-1]][slot])
        return part.replace("{slot}", slot)

    problems = Walk(CASES, ANSWERS, filled, ids={"register import-job list": "id"}).problems(
        monkeypatch, widths, most=most
    )
    assert not problems, "\n".join(problems)


def _furnish(reg: RegisterDatabase, folder: Path) -> dict[str, dict[str, int]]:
    """Units with a history, groups and statistics, all derived, and one more for each slot; files; and import jobs in
    some states, whose numbers are returned by slot."""
    with reg.conn.transaction():
        reg.lu("910000001", "2024-01-01", name=NAME, legal_form="AS", sector="2100", region="03.01", activity="A.01.1")
        reg.stat("910000001", "employees", 12, "2024-01-01")
        reg.lu("910000002", "2024-06-01", name="Fishing Tools AS", legal_form="AS", region="11.03", employees=3)
        reg.lu("910000003", "2023-01-01", birth_date="2023-01-01", death_date="2025-03-03", email="a@example.org")
        reg.es("910000004", "910000001", "2024-01-01", name="Nordic Fish, Oslo", employees=5, postal="Box 1")
        reg.relate("910000002", "910000001", "2024-06-01")
        for slot in SLOTS:
            reg.lu(slot, "2024-01-01", name=f"Unit {slot}")
    reg.derive()
    (folder / "tags.csv").write_text("path,name\nseen,Seen\nseen.twice.by.all,No parent\n")
    (folder / "units.csv").write_text("tax_ident,name,employees,colour\n1,One,5,red\n2,Two,,blue\n")
    rows = [{"tax_ident": str(n), "name": "", "employees": "many " * 20} for n in range(11)]
    problems = reg.import_rows("legal_unit", rows, valid_from="2020-01-01", slug="a list of units that has a long name")
    return {
        "problems": dict.fromkeys(SLOTS, problems),
        **{
            kind: {slot: _job(reg, f"{kind} {slot}", state) for slot in SLOTS}
            for kind, state in (
                ("approved", "waiting_for_review"),
                ("rejected", "waiting_for_review"),
                ("failed", "failed"),
                ("deleted", "waiting_for_upload"),
            )
        },
    }


def _job(reg: RegisterDatabase, slug: str, state: str) -> int:
    job_id = reg.value("select register.create_import_job('legal_unit_job_dates', %s, '2024-01-01')", slug)
    reg.conn.execute(
        "update register.import_job set state = %s, error = %s where id = %s",
        [state, "the server has ended\nand more" if state == "failed" else None, job_id],
    )
    return job_id
