"""Tasks of one dedup key that could not be merged: the claim folds them, and they share the fate of their survivor."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

FLAKY = """
create table probe.repaired ();
create procedure probe.flaky(payload jsonb) language plpgsql as $$
begin
  if not exists (select from probe.repaired) then
    raise exception 'broken';
  end if;
end;
$$
"""


@pytest.fixture
def flaky(committed: Engine) -> Engine:
    """Command ``once`` is deduplicated and fails until ``probe.repaired`` has a row."""
    committed.conn.execute(FLAKY)
    committed.command(
        "once", handler_procedure="probe.flaky", dedup=["key"], merge={"n": "add"}, max_attempts=2, retry_delay="0"
    )
    return committed


def repair(engine: Engine) -> None:
    engine.conn.execute("insert into probe.repaired default values")


def enqueue_twins(engine: Engine, connect: Connect, *payloads: dict[str, Any]) -> list[int]:
    """One task for each payload: none of the transactions sees the others in time to merge."""
    connections = [connect(autocommit=False) for _ in payloads]
    ids = [
        conn.execute("select worker.enqueue('once', %s)", [Jsonb({"key": 1} | payload)]).fetchall()[0][0]
        for conn, payload in zip(connections, payloads, strict=True)
    ]
    for conn in connections:
        conn.commit()
    assert len(set(ids)) == len(payloads)
    return ids


def test_a_folded_task_settles_with_its_survivor(flaky: Engine, connect: Connect) -> None:
    repair(flaky)
    survivor, twin = enqueue_twins(flaky, connect, {"n": 1}, {"n": 2})
    flaky.drain()
    assert (flaky.state(survivor), flaky.state(twin)) == ("completed", "completed")
    assert flaky.task(survivor)["payload"] == {"key": 1, "n": 3}
    assert flaky.task(twin)["merged_into"] == survivor
    flaky.check()


def test_a_folded_task_settles_with_a_survivor_that_needed_a_retry(flaky: Engine, connect: Connect) -> None:
    survivor, twin = enqueue_twins(flaky, connect, {}, {})
    flaky.process(p_batch_size=1)
    assert (flaky.state(survivor), flaky.state(twin)) == ("pending", "pending")
    repair(flaky)
    flaky.drain()
    assert (flaky.state(survivor), flaky.state(twin)) == ("completed", "completed")
    flaky.check()


def test_a_folded_task_is_cancelled_with_a_survivor_that_waits_for_its_retry(flaky: Engine, connect: Connect) -> None:
    flaky.conn.execute("update worker.command_registry set retry_delay = '1 hour', retry_max_delay = '1 hour'")
    survivor, twin = enqueue_twins(flaky, connect, {}, {})
    flaky.process(p_batch_size=1)
    assert flaky.value("select worker.cancel(%s)", survivor) == "cancelled"
    assert flaky.state(twin) == "cancelled"
    flaky.check()


def test_a_payload_that_does_not_fit_a_rule_made_later_runs_by_itself(flaky: Engine, connect: Connect) -> None:
    repair(flaky)
    flaky.conn.execute("update worker.command_registry set merge = '{}' where command = 'once'")
    survivor, odd = enqueue_twins(flaky, connect, {"n": 1}, {"n": "many"})
    flaky.conn.execute("""update worker.command_registry set merge = '{"n": "add"}' where command = 'once'""")
    flaky.drain()
    assert (flaky.state(survivor), flaky.state(odd)) == ("completed", "completed")
    assert flaky.task(odd)["merged_into"] is None
    flaky.check()


def test_folded_children_run_again_with_their_survivor_when_the_parent_is_retried(
    flaky: Engine, connect: Connect
) -> None:
    flaky.conn.execute("update worker.command_registry set max_attempts = 1 where command = 'once'")
    parent = flaky.enqueue(spawn=[{}])
    flaky.process()
    spawn = "select worker.spawn_child('once', '{\"key\": 1}', %s)"
    other = connect(autocommit=False)
    other.execute(spawn, [parent])
    flaky.conn.execute(spawn, [parent])
    other.commit()
    flaky.drain()
    assert flaky.task(parent)["error"].startswith("2 of 3 children failed: once: ")

    repair(flaky)
    assert flaky.value("select worker.retry(%s)", parent) == "waiting"
    flaky.check()
    flaky.drain()
    assert set(flaky.states().values()) == {"completed"}
    flaky.check()
