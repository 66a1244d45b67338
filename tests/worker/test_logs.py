"""What a worker writes to its log: starts and ends at their levels, and what handlers log, with their task."""

from __future__ import annotations

import json
import logging
import logging.config
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from catchment.runtime.events import Events
from catchment.runtime.lines import line_handler
from catchment.runtime.log import (
    FORMAT_VARIABLE,
    LEVEL_VARIABLE,
    JsonFormatter,
    TextFormatter,
    keep_own_loggers,
    log_to_stderr,
)
from catchment.task.log_filter import TaskFilter
from tests.fixtures.worker import wait_until
from tests.worker.crew import Crew

APP = "tests.worker.logged_app:app"


def test_handlers_log_with_their_task_and_their_span(crew: Crew) -> None:
    crew.hire(1, "--log-level", "debug", app=APP, worker_processes=1)
    kinds = ("say", "say_later", "say_in_thread", "say_in_process")
    tasks = {crew.enqueue(kind, text=f"{kind} {n}"): (kind, f"said {kind} {n}") for kind in kinds for n in range(3)}
    wait_until(lambda: len(crew.logged("task.processed")) >= len(tasks))
    ends = {line["task_id"]: line for line in crew.logged("task.processed")}
    starts = {line["task_id"]: line for line in crew.logged("task.started")}
    said = {line["task_id"]: line for line in crew.logged("log") if line["logger"] == "shop.mail"}
    for task_id, (kind, text) in tasks.items():
        line = said[task_id]
        place = {"command": kind, "queue": "letters", "attempt": 1}
        assert (line["message"], line["level"], line["logger"]) == (text, "info", "shop.mail")
        assert line["worker_id"] == crew.worker_id()
        for one in (line, starts[task_id], ends[task_id]):
            assert {name: one[name] for name in place} == place
        assert (starts[task_id]["level"], ends[task_id]["level"]) == ("debug", "info")
        # Of the run, which a process continues.
        assert re.fullmatch("[0-9a-f]{32}", line["trace_id"])
        assert line["trace_id"] == ends[task_id]["trace_id"]
        assert line["span_id"] == ends[task_id]["span_id"]
        assert datetime.fromisoformat(line["time"]).utcoffset() is not None
    assert {line["length"] for line in said.values() if line["command"] == "say"} == {5}
    assert len({line["trace_id"] for line in ends.values()}) == len(tasks)


def test_sql_handlers_are_logged_when_they_start_and_when_they_end(crew: Crew) -> None:
    crew.engine.queue("letters in SQL")
    crew.engine.conn.execute(
        "create procedure probe.rest(payload jsonb) language sql as 'select pg_advisory_xact_lock(4711)'"
    )
    crew.engine.command("note", "letters in SQL", handler_procedure="probe.rest")
    task = crew.engine.enqueue("note")
    crew.engine.value("select pg_advisory_lock(4711)")
    crew.hire(1, "--log-level", "debug", app=APP)
    wait_until(lambda: crew.logged("task.started"))
    # Not when the call returns, which has the end.
    assert crew.logged("task.processed") == []
    crew.engine.value("select pg_advisory_unlock(4711)")
    wait_until(lambda: crew.logged("task.processed"))
    (started,), (ended,) = crew.logged("task.started"), crew.logged("task.processed")
    same = {"task_id": task, "command": "note", "queue": "letters in SQL", "attempt": 1, "is_join": False}
    for line in (started, ended):
        assert {name: line[name] for name in same} == same
    assert (started["level"], ended["level"]) == ("debug", "info")


def test_a_retry_is_a_warning_and_the_final_failure_an_error(crew: Crew) -> None:
    crew.hire(1, app=APP)
    task = crew.enqueue("stumble", text="no such host")
    wait_until(lambda: len(crew.logged("task.processed")) == 2)
    retried, failed = crew.logged("task.processed")
    assert (retried["level"], retried["state"], retried["attempt"]) == ("warning", "pending", 1)
    assert (failed["level"], failed["state"], failed["attempt"]) == ("error", "failed", 2)
    assert crew.logged("task.started") == []
    own = crew.logged("log")
    assert [(line["task_id"], line["attempt"], line["level"]) for line in own] == [
        (task, 1, "error"),
        (task, 2, "error"),
    ]
    assert own[0]["traceback"].endswith("RuntimeError: no such host")


def test_lines_for_people_are_whole_and_name_the_task(crew: Crew) -> None:
    crew.hire(1, "--log-format", "text", app=APP, columns=80)
    task = crew.enqueue("say", text="x" * 300)
    log = crew.logs / "worker-1.log"
    wait_until(lambda: f"say {task} completed" in log.read_text())
    lines = log.read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d ", line) for line in lines)
    assert any(line.endswith(f" INFO     [say {task}] shop.mail: said {'x' * 300}") for line in lines)


def record(**fields: Any) -> logging.LogRecord:
    made = logging.makeLogRecord({"name": "shop", "levelno": 20, "levelname": "INFO", "msg": "sold", **fields})
    TaskFilter().filter(made)
    return made


class Unshowable:
    def __str__(self) -> str:
        raise ValueError("no")


def test_whatever_is_given_as_extra_is_one_line_of_json() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for value in ({"a": 1}, {(1, 2): 3}, endless, Unshowable(), float("nan"), b"\0", "two\nlines"):
        line = JsonFormatter().format(record(what=value))
        assert "\n" not in line
        assert json.loads(line)["message"] == "sold"
    assert json.loads(JsonFormatter().format(record(event="mine", task_id=7)))["task_id"] == 7


def test_a_line_for_people_is_one_line_outside_of_a_terminal() -> None:
    line = TextFormatter().format(record(msg="a\x1b[31m\nb" + "x" * 500))
    assert "\n" not in line
    assert "\x1b" not in line
    assert line.endswith("x" * 500)
    assert " INFO     shop: a" in line


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, as a worker sets it up; what it was before is put back."""
    logger = logging.getLogger()
    before, level, ours = logger.handlers[:], logger.level, logging.getLogger("catchment").level
    environment = {name: os.environ.get(name) for name in (FORMAT_VARIABLE, LEVEL_VARIABLE)}
    yield logger
    logger.handlers = before
    logger.setLevel(level)
    logging.getLogger("catchment").setLevel(ours)
    for name, value in environment.items():
        os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def test_lines_written_at_once_are_those_of_records(root: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["send 1 completed, ran 0.1 ms", "a\x1b[31m\nb", "50 % of {it}"]
    log_to_stderr("text", "info")
    assert Events().emit_lines(texts, level=logging.INFO)
    for text in texts:
        Events().emit("task.processed", text)
    lines = [line.split(maxsplit=2)[2] for line in capsys.readouterr().err.splitlines()]
    assert lines[:3] == lines[3:]
    assert lines[0] == "INFO     send 1 completed, ran 0.1 ms"
    log_to_stderr("text", "warning")
    assert Events().emit_lines(texts, level=logging.INFO)
    assert capsys.readouterr().err == ""
    log_to_stderr("text", "info")
    assert Events().emit_lines([], level=logging.INFO)
    assert capsys.readouterr().err == "", "nothing is no line"


def test_whatever_else_hears_events_gets_records(root: logging.Logger, monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("catchment.worker")
    handler, other = log_to_stderr("text", "info"), logging.NullHandler()
    additions: list[tuple[Callable[[], object], Callable[[], object]]] = [
        (lambda: root.addHandler(other), lambda: root.removeHandler(other)),
        (lambda: logger.addHandler(other), lambda: logger.removeHandler(other)),
        (lambda: logger.parent.addHandler(other), lambda: logger.parent.removeHandler(other)),  # type: ignore[union-attr]
        (lambda: logger.addFilter(str), lambda: logger.removeFilter(str)),  # type: ignore[arg-type]
        (lambda: handler.addFilter(str), lambda: handler.removeFilter(str)),  # type: ignore[arg-type]
        (lambda: handler.setLevel("ERROR"), lambda: handler.setLevel("NOTSET")),
        (lambda: setattr(logger, "propagate", False), lambda: setattr(logger, "propagate", True)),
        (lambda: logging.setLogRecordFactory(dict), lambda: logging.setLogRecordFactory(logging.LogRecord)),
        (lambda: monkeypatch.setattr(logging.Logger, "callHandlers", record), monkeypatch.undo),
    ]
    for add, remove in additions:
        assert line_handler(logger) is handler
        add()
        try:
            assert not Events().emit_lines(["never"], level=logging.INFO)
        finally:
            remove()
    assert not Events(print).emit_lines(["never"], level=logging.INFO)
    log_to_stderr("json", "info")
    assert line_handler(logger) is None
    log_to_stderr("text", "info", logging.Formatter())
    assert line_handler(logger) is None


def test_logging_config_does_not_silence_the_worker() -> None:
    ours = logging.getLogger("catchment.worker")
    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        logging.config.dictConfig({"version": 1, "root": {"level": "WARNING"}})
        assert ours.disabled
        keep_own_loggers()
        assert not ours.disabled
    finally:
        for logger in logging.root.manager.loggerDict.values():
            if isinstance(logger, logging.Logger):
                logger.disabled = False
        root.handlers, root.level = before


@pytest.mark.parametrize("name", ["command", "task_id", "attempt", "queue", "worker_id", "trace_id", "span_id"])
def test_a_format_may_name_the_task_where_there_is_none(name: str) -> None:
    assert logging.Formatter(f"%({name})s").format(record()) == "None"
