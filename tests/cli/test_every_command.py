"""Every command at 60, 80 and 200 columns, in a pipe, and as JSON by its schema."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from catchment.cli.answers import ANSWERS
from tests.cli.walk.commands import check_complete
from tests.cli.walk.furnished import LANE, Furnished, furnish
from tests.cli.walk.output import run
from tests.cli.walk.walk import Walk, Words
from tests.fixtures.engine import Engine

# They run until they are stopped, or are a show for people.
WITHOUT_JSON = {"dev", "worker", "dashboard", "psql", "demo"}
LONG = 'every month, of "all" it\'s [bold]departments[/] and regions'
# What comes behind the words of a command: each in every width. {…} is a task, the worker, or one of SLOTS.
CASES: dict[str, list[Words]] = {
    "migrate": [()],
    "enqueue": [("act", '{"note": "x"}')],
    "top": [("--once",)],
    "tail": [("--since", "1h"), ("--since", "1h", "--state", "failed")],
    "config": [(), ("nothing",)],
    "doctor": [()],
    "bench": [],  # it takes a minute: its own test checks the schema
    "task list": [
        (),
        *[("--state", state) for state in ("pending", "processing", "waiting", "interrupted", "failed", "cancelled")],
        ("--lane", "nothing"),
    ],
    "task show": [
        (f"{{{state}}}",)
        for state in (
            *("failed", "completed", "scope failed", "cancelled", "later", "waiting", "pending"),
            *("interrupted", "retry", "processing", "merged"),
        )
    ],
    "task why": [(f"{{{state}}}",) for state in ("failed", "waiting", "pending", "processing", "later", "merged")],
    "task tree": [("{scope failed}",), ("{waiting}",), ("{processing}",)],
    "task cancel": [("{cancelled}", "{completed}"), ("1",), ("--lane", "nothing"), ("--command", "act", "--dry-run")],
    "task retry": [("1",), ("--failed", "--lane", "nothing"), ("--failed", "--dry-run"), ("--failed",)],
    "queue list": [()],
    "queue capacity": [("work",), ("maintenance",)],
    "queue pause": [("work", "--for", "3600"), ("work",)],
    "queue resume": [("work",)],
    "lane list": [(), ("--state", "halted"), ("--state", "ready", "--queue", "work")],
    "lane skip": [("lanes", f"{LANE} {{slot}}")],
    "schedule list": [()],
    "schedule history": [("fired",), ("hourly",)],
    "schedule run": [("fired",)],
    "schedule pause": [(LONG,)],
    "schedule resume": [(LONG,)],
    "command list": [()],
    "workers list": [()],
    "workers pause": [("{worker}",)],
    "workers resume": [("{worker}",)],
    "workers drain": [("{worker}",)],
}
# Their codes may be 1: a problem was reported, a task was refused.
MAY_FAIL = {"doctor", "task cancel", "task retry"}
# What is shown in one piece, of each row.
IDS = {
    "task list": "id",
    "task show": "id",
    "task tree": "id",
    "lane list": "head_id",
    "workers list": "worker_id",
    "schedule history": "task_id",
}


def test_every_command_prints_json_and_has_a_schema_and_a_case() -> None:
    check_complete(ANSWERS, CASES, WITHOUT_JSON, but=("table ", "register "))


@pytest.mark.parametrize(
    ("widths", "most"), [((60,), 1), pytest.param((None, 60, 80, 200), None, marks=pytest.mark.long)]
)
def test_every_command_in_every_width_and_as_json(
    committed: Engine, db: str, monkeypatch: pytest.MonkeyPatch, widths: Sequence[int | None], most: int | None
) -> None:
    monkeypatch.setenv("CATCHMENT_DSN", db)
    furnished = furnish(committed)
    walk = Walk(CASES, ANSWERS, lambda part, slot: _filled(part, furnished, slot), MAY_FAIL, IDS)
    problems = walk.problems(monkeypatch, widths, most=most)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("words", ["task list", "lane list", "workers list", "doctor", "tail"])
def test_nothing_is_an_empty_list(committed: Engine, db: str, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setenv("CATCHMENT_DSN", db)
    printed = run(monkeypatch, *words.split(), "--json")
    assert (printed.code, printed.out) == (0, "" if words == "tail" else "[]\n")


def _filled(part: str, furnished: Furnished, slot: str) -> str:
    if not part.startswith("{") or not part.endswith("}") or '"' in part:
        return part.replace("{slot}", slot)
    name = part[1:-1]
    return str(furnished.worker_id if name == "worker" else furnished.tasks[name])
