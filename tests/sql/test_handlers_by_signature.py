"""A registered name refers to one procedure: an overload that is created later does not run in its place."""

from __future__ import annotations

import pytest

from catchment.sql import ENGINE
from tests.fixtures.engine import Engine

CODE = "begin insert into probe.effect (note) values ('{}'); end;"


def _create(engine: Engine, name: str, arguments: str, note: str) -> None:
    engine.conn.execute(f"create procedure {name}({arguments}) language plpgsql as $$ {CODE.format(note)} $$")  # type: ignore[arg-type]


def _run(engine: Engine, command: str = "pack") -> dict[str, object]:
    task = engine.enqueue(command)
    engine.process()
    return engine.task(task)


def _findings(engine: Engine) -> list[str]:
    rows = engine.conn.execute(ENGINE.query("doctor")).fetchall()
    return [row[2] for row in rows if row[1] == "command pack"]


@pytest.mark.parametrize(
    "overload",
    [
        "payload jsonb",
        "payload jsonb, info text default ''",
        "payload anyelement",
        "payload anyelement, inout info anyelement",
        "payload json",
        "variadic payload jsonb[]",
    ],
)
def test_overload_that_comes_later_never_runs(engine: Engine, overload: str) -> None:
    _create(engine, "probe.pack", "payload jsonb, inout info jsonb", "registered")
    engine.command("pack", handler_procedure="probe.pack")
    _create(engine, "probe.pack", overload, "another")
    assert _run(engine)["state"] == "completed"
    assert engine.notes() == ["registered"]
    assert _findings(engine) == []


def test_overload_that_postgresql_cannot_tell_from_the_handler_stops_it(engine: Engine) -> None:
    _create(engine, "probe.pack", "payload jsonb", "registered")
    engine.command("pack", handler_procedure="probe.pack")
    _create(engine, "probe.pack", "payload jsonb, inout info jsonb default null", "another")
    task = _run(engine)
    assert task["state"] == "failed"
    assert "not unique" in str(task["error"])
    assert engine.notes() == []


def test_longer_overload_that_comes_later_never_runs(engine: Engine) -> None:
    _create(engine, "probe.pack", "payload jsonb", "registered")
    engine.command("pack", handler_procedure="probe.pack")
    _create(engine, "probe.pack", "payload jsonb, inout info jsonb", "another")
    _run(engine)
    engine.conn.execute("update worker.command_registry set handler_procedure = handler_procedure")
    _run(engine)
    assert engine.notes() == ["registered", "registered"]


def test_procedure_in_a_schema_earlier_in_the_search_path_never_runs(engine: Engine) -> None:
    engine.conn.execute("create schema earlier")
    _create(engine, "public.pack", "payload jsonb", "registered")
    _create(engine, "earlier.pack", "payload jsonb", "another")
    engine.conn.execute("create domain earlier.jsonb as pg_catalog.jsonb")
    engine.command("pack", handler_procedure="pack")
    engine.conn.execute("set local search_path = earlier, public, pg_catalog")
    _run(engine)
    assert engine.notes() == ["registered"]


@pytest.mark.parametrize(
    ("written", "note"),
    [
        ("probe.pack(jsonb)", "short"),
        ("probe.pack(jsonb, jsonb)", "long"),
        ("probe.pack( jsonb , inout jsonb )", "long"),
        ('"probe"."pack"(pg_catalog.jsonb)', "short"),
    ],
)
def test_name_may_be_written_with_its_arguments(engine: Engine, written: str, note: str) -> None:
    _create(engine, "probe.pack", "payload jsonb", "short")
    _create(engine, "probe.pack", "payload jsonb, inout info jsonb", "long")
    engine.command("pack", handler_procedure=written)
    assert _run(engine)["state"] == "completed"
    assert engine.notes() == [note]
    assert _findings(engine) == []


def test_ambiguous_name_is_refused_and_says_what_to_write(engine: Engine) -> None:
    _create(engine, "probe.pack", "payload jsonb", "short")
    _create(engine, "probe.pack", "payload jsonb, inout info jsonb", "long")
    engine.command("pack", handler_procedure="probe.pack")
    task = _run(engine)
    assert task["state"] == "failed"
    assert task["error_detail"]["kind"] == "CM012"  # type: ignore[index]
    assert "ambiguous" in str(task["error"])
    assert "probe.pack(jsonb)" in task["error_detail"]["hint"]  # type: ignore[index]
    assert engine.notes() == []
    assert len(_findings(engine)) == 1
    engine.check()


def test_handler_that_is_created_after_its_registration_runs_and_stays(engine: Engine) -> None:
    engine.command("pack", handler_procedure="probe.pack")
    assert _run(engine)["error_detail"]["kind"] == "CM012"  # type: ignore[index]
    _create(engine, "probe.pack", "payload jsonb, inout info jsonb", "first")
    _run(engine)
    _create(engine, "probe.pack", "payload jsonb", "second")
    _run(engine)
    assert engine.notes() == ["first", "first"]


def test_handler_that_is_replaced_by_one_with_other_arguments_runs(engine: Engine) -> None:
    _create(engine, "probe.pack", "payload jsonb", "old")
    engine.command("pack", handler_procedure="probe.pack")
    _run(engine)
    engine.conn.execute("drop procedure probe.pack")
    _create(engine, "probe.pack", "payload jsonb, inout info jsonb", "new")
    _run(engine)
    assert engine.notes() == ["old", "new"]


def test_procedure_that_only_resembles_a_dropped_handler_does_not_run(engine: Engine) -> None:
    _create(engine, "probe.pack", "payload jsonb", "registered")
    engine.command("pack", handler_procedure="probe.pack")
    _create(engine, "probe.pack", "payload anyelement", "another")
    engine.conn.execute("drop procedure probe.pack(jsonb)")
    assert _run(engine)["error_detail"]["kind"] == "CM012"  # type: ignore[index]
    assert engine.notes() == []


def test_join_and_hooks_are_called_by_their_signature(engine: Engine) -> None:
    for name in ("join", "before", "after"):
        _create(engine, f"probe.{name}", "payload jsonb", name)
    engine.command("pack", join_procedure="probe.join", before_procedure="probe.before", after_procedure="probe.after")
    for name in ("join", "before", "after"):
        _create(engine, f"probe.{name}", "payload jsonb, inout info jsonb", f"another {name}")
        _create(engine, f"probe.{name}", "payload anyelement", f"any {name}")
    engine.enqueue("pack", spawn=[{}])
    engine.drain()
    assert engine.notes() == ["before", "join", "after"]
    engine.check()


def test_nobody_writes_the_signature_by_hand(engine: Engine) -> None:
    _create(engine, "probe.pack", "payload jsonb", "registered")
    _create(engine, "probe.other", "payload jsonb", "another")
    engine.command("pack", handler_procedure="probe.pack", handler_signature="probe.other(pg_catalog.jsonb)")
    engine.conn.execute("update worker.command_registry set handler_signature = 'probe.other(pg_catalog.jsonb)'")
    _run(engine)
    assert engine.notes() == ["registered"]
