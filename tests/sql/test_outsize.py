"""Payloads, infos, errors and times that are larger than anything can read."""

from __future__ import annotations

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.often import some
from tests.fixtures.server import Connect
from tests.sql.support import message, refused

BIG = "(select p from probe.big)"
TIMES = ["infinity", "-infinity", "20000-01-01", "0044-03-15 BC"]


@pytest.fixture
def big(engine: Engine) -> Engine:
    """A value that is small as it is stored, and large as text."""
    engine.conn.execute("create table probe.big (p jsonb)")
    engine.conn.execute("insert into probe.big select jsonb_build_object('a', repeat('x', 20000000))")
    assert engine.value("select pg_column_size(p) from probe.big") < 1_000_000
    return engine


@pytest.mark.parametrize(
    "way",
    some(
        [
            f"select worker.enqueue('act', {BIG})",
            f"select worker.enqueue('act', {BIG}, p_lane => 'a')",
            f"select worker.enqueue_many('act', array[{BIG}])",
            f"insert into worker.tasks (command, payload) values ('act', {BIG})",
            f"update worker.tasks set payload = {BIG} where command = 'act'",
            "select worker.enqueue('act', jsonb_object_agg(n, 1e131000)) from generate_series(1, 200) as n",
        ],
        one_in=2,
    ),
)
def test_a_payload_is_measured_as_text_at_every_way_in(big: Engine, way: str) -> None:
    big.enqueue()
    with refused(big, "CM004") as error:
        big.conn.execute(way)  # type: ignore[arg-type]
    assert "at most 16777216 are taken" in message(error)


@pytest.mark.long
def test_a_large_info_fails_its_attempt_and_a_large_error_is_cut(engine: Engine) -> None:
    engine.conn.execute(
        "create procedure probe.large(payload jsonb, inout info jsonb) language plpgsql as $$ begin"
        " if payload ? 'fail' then raise exception using message = repeat('x', 300000000); end if;"
        " info := jsonb_build_object('a', repeat('x', 20000000)); end $$"
    )
    engine.command("large", handler_procedure="probe.large", max_attempts=1)
    info, error = engine.enqueue("large"), engine.enqueue("large", fail=True)
    engine.process()
    assert engine.task(info)["state"] == "failed"
    assert "at most 16777216 are stored" in engine.task(info)["error"]
    assert len(engine.task(error)["error"]) == 10_000
    engine.check()


@pytest.mark.parametrize("at", TIMES)
@pytest.mark.parametrize(
    "way",
    [
        "select worker.enqueue('act', p_scheduled_at => %s::timestamptz)",
        "select worker.enqueue_many('act', array['{}']::jsonb[], p_scheduled_at => %s::timestamptz)",
        "insert into worker.tasks (command, scheduled_at) values ('act', %s)",
        "update worker.tasks set scheduled_at = %s where command = 'act'",
    ],
)
def test_a_time_that_nobody_can_read_is_refused(engine: Engine, way: str, at: str) -> None:
    engine.enqueue()
    with refused(engine, "CM018"):
        engine.conn.execute(way, [at])  # type: ignore[arg-type]
    engine.check()


@pytest.mark.parametrize("at", TIMES)
@pytest.mark.parametrize(
    ("sqlstate", "way"),
    [
        ("CM018", "select worker.pause_queue('work', %s)"),
        ("23514", "update worker.queue_registry set paused_at = worker.now(), paused_until = %s"),
        ("CM018", "insert into worker.schedule (name, command, every, next_at) values ('b', 'act', '1 hour', %s)"),
        ("CM018", "update worker.schedule set next_at = %s where name = 'a'"),
    ],
)
def test_queues_and_schedules_take_no_time_that_nobody_can_read(
    engine: Engine, way: str, sqlstate: str, at: str
) -> None:
    engine.conn.execute("insert into worker.schedule (name, command, every) values ('a', 'act', '1 hour')")
    with refused(engine, sqlstate):
        engine.conn.execute(way, [at])  # type: ignore[arg-type]


@pytest.mark.long
def test_a_twin_that_would_make_a_payload_too_large_runs_by_itself(committed: Engine, connect: Connect) -> None:
    committed.command("gather", dedup=[], merge={"items": "union"})
    enqueue = "select worker.enqueue('gather', jsonb_build_object('items', jsonb_build_array(repeat(%s, 6000000))))"
    others = [connect(autocommit=False) for _ in range(3)]
    for letter, conn in zip("abc", others, strict=True):
        conn.execute(enqueue, [letter])
    for conn in others:
        conn.commit()
    committed.drain()
    sizes = "select octet_length(payload::text) from worker.tasks where merged_into is null order by id"
    assert committed.conn.execute(sizes).fetchall() == [(12_000_019,), (6_000_015,)]
    assert set(committed.states().values()) == {"completed"}
    committed.check()


def test_the_clock_of_a_test_is_never_infinite(engine: Engine) -> None:
    engine.conn.execute("set local worker.now = 'infinity'")
    assert engine.value("select isfinite(worker.now())")


def test_a_delay_without_end_becomes_a_hundred_years(engine: Engine) -> None:
    wish = '{"retry_after": "200000 years"}'
    assert engine.value("select worker.retry_after(%s::jsonb) = interval '100 years'", wish)


def test_a_function_of_the_same_name_elsewhere_stops_no_insert(engine: Engine) -> None:
    insert = "insert into worker.tasks (command) values ('act')"
    engine.conn.execute(
        "create schema other; set local check_function_bodies = off;"
        f"create function probe.enqueue() returns void language sql as $$ {insert} $$;"
        f"create function other.enqueue(integer) returns void language sql"
        f" as $$ {insert} on conflict (id) do nothing $$"
    )
    engine.conn.execute("select probe.enqueue()")
    assert len(engine.states()) == 1
