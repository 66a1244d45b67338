"""enqueue_each: several calls of enqueue in one statement have the effects that they would have one by one."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine

COMMANDS = """
insert into worker.queue_registry (queue, mode) values ('each', 'concurrent'), ('other', 'concurrent');
insert into worker.command_registry (command, queue, handler_kind, dedup, merge) values
  ('plain', 'each', 'python', null, '{}'), ('urgent', 'other', 'python', null, '{}'),
  ('keyed', 'each', 'python', '{k}', '{"n": "add"}')
"""
# What is written, without ids and times.
WRITTEN = """
select t.command, t.payload, t.priority, t.lane, t.kind, t.queue_id, t.max_attempts, t.trace, t.dedup_key,
       t.scheduled_at - t.created_at > interval '59 minutes' as is_late, t.place = t.id as has_own_place,
       r.tier, r.band, r.rank, r.place = t.id as is_ready,
       b.reason, b.tier as blocked_tier, b.band as blocked_band, b.lane as blocked_lane, b.place = t.id as is_blocked,
       exists (select from worker.arrival as a
                where a.queue_id = t.queue_id and a.lane = t.lane and t.id between a.first_place and a.last_place)
         as is_announced
  from worker.task as t
  left join worker.ready as r on r.id = t.id
  left join worker.blocked as b on b.id = t.id
 order by t.id
"""
Call = tuple[str, dict[str, Any], int | None, str | None, str | None, str | None]
PLAIN: list[Call] = [
    ("plain", {}, None, None, None, None),
    ("urgent", {"a": [1, "x"]}, 5, None, None, None),
    ("plain", {"n": 1}, None, "a", None, "00-trace"),
    ("urgent", {}, None, "a", None, None),
    ("plain", {"long": "x" * 5000}, None, "b", None, None),
]
OTHERS: list[Call] = [
    ("keyed", {"k": 1, "n": 1}, None, None, None, None),
    ("plain", {}, None, None, "1 hour", None),
    ("keyed", {"k": 1, "n": 2}, 3, None, None, None),
    ("keyed", {"k": 1, "n": 4}, None, "a", None, None),
]


def _one_by_one(engine: Engine, calls: list[Call]) -> list[int]:
    return [
        engine.value(
            "select worker.enqueue(%s, %s, %s, %s, worker.now() + %s::interval, %s)",
            command,
            Jsonb(payload),
            priority,
            lane,
            delay,
            trace,
        )
        for command, payload, priority, lane, delay, trace in calls
    ]


def _together(engine: Engine, calls: list[Call]) -> list[int]:
    commands, payloads, priorities, lanes, delays, traces = map(list, zip(*calls, strict=True))
    return engine.value(
        "select worker.enqueue_each(%s::text[], %s::jsonb[], %s::integer[], %s::text[],"
        " p_delays => %s::interval[], p_traces => %s::text[])",
        commands,
        [Jsonb(payload) for payload in payloads],
        priorities,
        lanes,
        delays if any(delays) else None,
        traces,
    )


@pytest.mark.parametrize("calls", [PLAIN, PLAIN[:1], OTHERS, PLAIN + OTHERS], ids=["plain", "one", "others", "mixed"])
def test_calls_in_one_statement_write_what_they_would_alone(engine: Engine, calls: list[Call]) -> None:
    engine.conn.execute(COMMANDS)
    written: list[Any] = []
    order: list[Any] = []
    for make in (_one_by_one, _together):
        with engine.conn.transaction(force_rollback=True):
            ids = make(engine, calls)
            written.append(engine.conn.execute(WRITTEN).fetchall())
            order.append([sorted(set(ids)).index(task) for task in ids])
            engine.check()
    assert written[0] == written[1]
    assert order[0] == order[1]


@pytest.mark.parametrize(
    ("command", "payload", "lane", "sqlstate"),
    [
        ("nobody_has_this", "{}", None, "CM002"),
        ("plain", "[]", None, "CM004"),
        ("plain", "{}", "", "CM018"),
        ("plain", "{}", "x" * 501, "CM018"),
        ("keyed", '{"k": 1, "n": "x"}', None, "CM020"),
    ],
)
def test_one_refused_call_makes_none(
    engine: Engine, command: str, payload: str, lane: str | None, sqlstate: str
) -> None:
    engine.conn.execute(COMMANDS)
    with pytest.raises(psycopg.Error) as caught, engine.conn.transaction():
        engine.value(
            "select worker.enqueue_each(array['plain', %s], array['{}', %s]::jsonb[], p_lanes => array[null, %s])",
            command,
            payload,
            lane,
        )
    assert caught.value.sqlstate == sqlstate
    assert engine.value("select count(*) from worker.task") == 0


def test_a_missing_payload_is_an_empty_object(engine: Engine) -> None:
    engine.conn.execute(COMMANDS)
    engine.value("select worker.enqueue_each('{plain,plain}', array[null, '{}']::jsonb[])")
    assert engine.value("select array_agg(payload) from worker.task") == [{}, {}]


def test_no_calls_make_no_tasks(engine: Engine) -> None:
    assert engine.value("select worker.enqueue_each('{}', '{}')") == []
