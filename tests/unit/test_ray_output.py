"""Lines that a driver of Ray writes, in the log of a worker: lines for people, or JSON."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from catchment.runtime.log import JsonFormatter, TextFormatter
from catchment.runtime.ray.output import log
from catchment.task.log_filter import TaskFilter

LOGGED = {
    "time": "2026-03-01T12:00:00.250+00:00",
    "level": "error",
    "event": "log",
    "message": "it broke",
    "logger": "shop.mail",
    "command": "send",
    "task_id": 7,
    "attempt": 2,
    "traceback": "Traceback: …",
}


@pytest.fixture
def written() -> Iterator[tuple[logging.Handler, io.StringIO]]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(TaskFilter())
    root, ours = logging.getLogger(), logging.getLogger("catchment.worker")
    level = ours.level
    root.addHandler(handler)
    ours.setLevel(logging.INFO)
    yield handler, stream
    root.removeHandler(handler)
    ours.setLevel(level)


def _json(written: tuple[logging.Handler, io.StringIO], *lines: str) -> list[dict[str, Any]]:
    handler, stream = written
    handler.setFormatter(JsonFormatter())
    log(io.BytesIO("".join(f"{line}\n" for line in lines).encode()))
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_of_a_body_is_an_event_with_its_source_and_without_colours(
    written: tuple[logging.Handler, io.StringIO],
) -> None:
    (one, two) = _json(
        written, "\x1b[36m(send (now) 7 pid=41, ip=10.0.0.2)\x1b[0m \x1b[31mhello\x1b[0m", "(send 7 pid=41) [1, 2]", ""
    )
    assert (one["event"], one["level"], one["message"]) == (
        "ray.output",
        "info",
        "(send (now) 7 pid=41, ip=10.0.0.2) hello",
    )
    assert [one[name] for name in ("output", "source", "pid", "ip")] == ["hello", "send (now) 7", 41, "10.0.0.2"]
    assert (two["output"], two["ip"]) == ("[1, 2]", None)


def test_a_line_of_ray_itself_is_an_event_with_its_text(written: tuple[logging.Handler, io.StringIO]) -> None:
    lines = ["(raylet) the node has little memory", '  File "driver.py", line 3']
    for line, said in zip(lines, _json(written, *lines, " "), strict=True):
        assert (said["event"], said["output"]) == ("ray.output", line)
        assert (said["source"], said["pid"]) == (None, None)


def test_what_a_body_logs_keeps_its_logger_level_time_and_task(written: tuple[logging.Handler, io.StringIO]) -> None:
    (one,) = _json(written, f"(send 7 pid=41) {json.dumps(LOGGED)}")
    assert one == LOGGED


def test_lines_for_people_are_readable(written: tuple[logging.Handler, io.StringIO]) -> None:
    handler, stream = written
    handler.setFormatter(TextFormatter())
    log(io.BytesIO(f"\x1b[36m(send 7 pid=41)\x1b[0m hello\n(send 7 pid=41) {json.dumps(LOGGED)}\n".encode()))
    first, second, traceback = stream.getvalue().splitlines()
    assert first.endswith("INFO     (send 7 pid=41) hello")
    assert second.endswith("ERROR    [send 7, attempt 2] shop.mail: it broke")
    assert traceback == "Traceback: …"


def test_json_that_is_no_record_is_output(written: tuple[logging.Handler, io.StringIO]) -> None:
    lines = ['{"time": 1, "level": "info"}', '{"a": 1}', "[]", "17", '{"time": "x", "level": "info", "message": "m"}']
    assert {line["event"] for line in _json(written, *(f"(send 7 pid=41) {line}" for line in lines))} == {"ray.output"}
