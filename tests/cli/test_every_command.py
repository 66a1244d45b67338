"""Every command at 60, 80 and 200 columns, in a pipe, and as JSON by its schema."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from catchment.cli.answers import ANSWERS
from tests.cli.walk.commands import commands, has_json
from tests.cli.walk.furnished import LANE, Furnished, furnish
from tests.cli.walk.output import Printed, ids_of, problems_of_json, problems_of_text, run
from tests.fixtures.engine import Engine

# They run until they are stopped, or are a show for people.
WITHOUT_JSON = {"dev", "worker", "dashboard", "psql", "demo"}
LONG = 'every month, of "all" it\'s [bold]departments[/] and regions'
Words = Sequence[str]
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
    there = {words: command for words, command in commands().items() if not words.startswith(("table ", "register "))}
    assert {words for words, command in there.items() if not has_json(command)} == WITHOUT_JSON
    assert {words for words, command in there.items() if has_json(command)} == ANSWERS.keys()
    assert ANSWERS.keys() == CASES.keys()


@pytest.mark.parametrize("widths", [(None, 60), pytest.param((None, 60, 80, 200), marks=pytest.mark.long)])
def test_every_command_in_every_width_and_as_json(
    committed: Engine, db: str, monkeypatch: pytest.MonkeyPatch, widths: Sequence[int | None]
) -> None:
    monkeypatch.setenv("CATCHMENT_DSN", db)
    furnished = furnish(committed)
    problems: list[str] = []
    for words, variants in CASES.items():
        for arguments in variants:
            printed, called = _called(monkeypatch, furnished, words, arguments, "json", None)
            if printed.out or not printed.code:
                wrong = problems_of_json(printed.out, ANSWERS[words], are_lines=words == "tail")
                problems += [f"{called}: {problem}" for problem in wrong]
            ids = ids_of(printed.out, IDS[words]) if words in IDS else set[str]()
            for width in widths:
                slot = "pipe" if width is None else str(width)
                printed, called = _called(monkeypatch, furnished, words, arguments, slot, width)
                if printed.code and not (printed.code == 1 and words in MAY_FAIL):
                    problems.append(f"{called}: ended with {printed.code}: {printed.err}")
                problems += [f"{called}: {problem}" for problem in problems_of_text(printed, width, ids)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("words", ["task list", "lane list", "workers list", "doctor", "tail"])
def test_nothing_is_an_empty_list(committed: Engine, db: str, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setenv("CATCHMENT_DSN", db)
    printed = run(monkeypatch, *words.split(), "--json")
    assert (printed.code, printed.out) == (0, "" if words == "tail" else "[]\n")


def _called(
    monkeypatch: pytest.MonkeyPatch, furnished: Furnished, words: str, arguments: Words, slot: str, width: int | None
) -> tuple[Printed, str]:
    """What a command prints, and how it was called."""
    given = [*words.split(), *(_filled(part, furnished, slot) for part in arguments)]
    if slot == "json":
        given.append("--json")
    return run(monkeypatch, *given, width=width), f"catchment {' '.join(given)} ({slot})"


def _filled(part: str, furnished: Furnished, slot: str) -> str:
    if not part.startswith("{") or not part.endswith("}") or '"' in part:
        return part.replace("{slot}", slot)
    name = part[1:-1]
    return str(furnished.worker_id if name == "worker" else furnished.tasks[name])
