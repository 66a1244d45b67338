"""What commands print: tables that a terminal and a pipe can take, JSON that programs can read."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from catchment.cli.failure import show_failure
from catchment.commands import console, print_json, print_rows
from catchment.errors import CatchmentError
from catchment_register.dates import OPEN_END

Printed = Callable[[], str]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Printed:
    """What was printed, to a pipe."""
    monkeypatch.delenv("COLUMNS", raising=False)
    return lambda: capsys.readouterr().out


def show(rows: Any, *columns: str, empty: str = "") -> None:
    print_rows(rows, columns, as_json=False, empty=empty)


@pytest.mark.parametrize("state", [None, 5, ["completed"], "completed", "[/x]"])
def test_a_state_may_be_anything(printed: Printed, state: Any) -> None:
    show([{"state": state}], "state")
    assert printed().splitlines()[1].strip() == ("" if state is None else str(state))


def test_a_terminal_is_not_steered_by_a_cell(printed: Printed) -> None:
    show([{"name": "a\x1b[2Jb\x9b\tc\ud800"}], "name")
    assert "a\\x1b[2Jb\\x9b c\\ud800" in printed()


def test_a_pipe_has_room_for_every_cell(printed: Printed) -> None:
    row = {"name": "x" * 200, "state": "completed", "text": "y" * 300}
    show([row], "name", "state", "text")
    assert printed().splitlines()[1].split() == list(row.values())


def test_titles_and_the_text_for_no_rows_are_no_markup(printed: Printed) -> None:
    show([{"[b]x": 1, "": 2}], "[b]x", "")
    assert printed().splitlines()[0].rstrip() == "[b]x"
    show([], "x", empty="none of [/x]")
    assert printed() == "none of [/x]\n"


def test_rows_may_come_one_by_one(printed: Printed) -> None:
    show(({"i": i} for i in range(2)), "i")
    assert printed().split() == ["i", "0", "1"]


def test_a_moment_beyond_every_zone_is_shown(printed: Printed) -> None:
    show([{"at": datetime.min.replace(tzinfo=UTC)}, {"at": datetime.max.replace(tzinfo=UTC)}], "at")
    assert printed().splitlines()[1].startswith("0001-01-01 00:00:00")


def test_json_is_json(printed: Printed) -> None:
    value = {
        "nan": float("nan"),
        "list": [float("inf"), (float("-inf"),)],
        "bytes": b"\xff",
        "set": {2, 1},
        date(2026, 1, 2): Decimal("1.50"),
        3: None,
    }
    print_json(value)
    assert json.loads(printed(), parse_constant=pytest.fail) == {
        "nan": "NaN",
        "list": ["Infinity", ["-Infinity"]],
        "bytes": "\\xff",
        "set": [1, 2],
        "2026-01-02": 1.5,
        "3": None,
    }


def test_what_can_be_read_only_once_is_refused(printed: Printed) -> None:
    with pytest.raises(TypeError, match="make a list of it"):
        print_json({"rows": (row for row in [1])})
    assert printed() == ""


def test_the_last_day_is_a_day_and_an_open_end_of_the_register_is_none(printed: Printed) -> None:
    show([{"last": date.max, "end": OPEN_END}], "last", "end")
    assert printed().splitlines()[1].split() == ["9999-12-31", "infinity"]
    print_json([date.max, OPEN_END, {date.max: OPEN_END}])
    assert json.loads(printed()) == ["9999-12-31", "infinity", {"9999-12-31": "infinity"}]
    assert date.max == OPEN_END


def test_a_long_cell_does_not_widen_the_others_in_a_pipe(printed: Printed) -> None:
    for columns in (("n", "text"), ("text", "n")):
        show([{"n": n, "text": "x" * 50_000 if n == 7 else "y\nz"} for n in range(1000)], *columns)
        assert len(printed()) < 50_000 + 1000 * 450
    show([{"n": 1, "name": "a"}, {"n": 20, "name": "bcd"}], "n", "name")
    assert printed() == " n  name\n 1  a\n20  bcd\n"
    show([{"name": "日本", "lines": "a\nb", "n": 1}, {"name": "c", "lines": "d", "n": 2}], "name", "lines", "n")
    assert printed() == "name  lines  n\n日本  a      1\n      b\nc     d      2\n"


def test_a_terminal_shows_of_long_cells_and_of_extra_columns_what_fits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"id": n, "name": "n" * 60, "kind": "sql", "parent": None if n == 9 else 7, "text": "one\ntwo " + "z" * 300}
        for n in (9, 10)
    ]

    def printed(columns: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(console, "_width", columns)  # the variable is read once
        print_rows(rows, list(rows[0]), as_json=False, empty="", extra=["parent", "kind"], cut=["name", "text"])
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 3
        assert max(map(len, lines)) <= columns
        assert all("one two z" in line and line.rstrip().endswith("…") for line in lines[1:])
        return lines

    assert printed(50)[0].split() == ["id", "name", "text"]
    assert printed(60)[0].split() == ["id", "name", "text"]
    lines = printed(62)
    assert lines[0].split() == ["id", "name", "parent", "text"]
    assert [line.split()[0] for line in lines[1:]] == ["9", "10"]
    assert lines[2][lines[0].index("parent") :].startswith("     7")  # a number, though the first row has none
    assert printed(300)[0].split() == ["id", "name", "kind", "parent", "text"]


def test_a_pipe_has_room_for_every_message(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = "a message of many words " * 20
    console.print(text, markup=False)
    show_failure(CatchmentError(text, hint=text))
    out, err = capsys.readouterr()
    assert out == f"{text}\n"
    assert err == f"error: {text}\nhint: {text}\n"


def test_json_for_a_closed_output_goes_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    print_json({"a": "ø"})
    show([{"i": 1}], "i")
