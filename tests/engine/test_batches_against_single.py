"""The same work in a session of a worker, in batches, and in a plain one, task by task, has the same outcomes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.fixtures.often import often
from tests.fixtures.server import Connect

# Every outcome by what the payload says, not by ids, which depend on the order of spawns.
OUTCOMES = """
select substr(t.payload ->> 'note', 2), t.state, t.error_detail ->> 'kind', t.info, t.attempt,
       substr(p.payload ->> 'note', 2)
  from worker.tasks as t
  left join worker.tasks as p on p.id = t.parent_id
 where t.payload ->> 'note' like %s
 order by 1
"""
EFFECTS = "select substr(note, 2), count(*) from probe.effect where note like %s group by note order by note"


def _tree(chance: random.Random, name: str, depth: int = 0) -> dict[str, Any]:
    """A payload of ``probe.act``: leaves, scopes of both modes, siblings, follow-ups, failures, figures."""
    payload: dict[str, Any] = {"note": name, "command": chance.choice(["act", "quick", "hooked"])}
    if chance.random() < 0.15:
        payload["fail"] = f"{name} fails"
    if chance.random() < 0.3:
        payload["info"] = {"n": chance.randint(1, 9)}
    if depth < 2 and chance.random() < (0.2 if depth == 0 else 0.3):
        payload["spawn"] = [_tree(chance, f"{name}.{n}", depth + 1) for n in range(chance.randint(1, 12))]
        if chance.random() < 0.3:
            payload["child_mode"] = "serial"
    if depth == 1 and chance.random() < 0.1:
        payload["sibling"] = [{"note": f"{name}+", "command": "quick"}]
    if chance.random() < 0.1:
        payload["enqueue"] = [{"note": f"{name}!", "command": "quick"}]
    return payload


def _run(engine: Engine, seed: int, name: str) -> tuple[list[Any], list[Any]]:
    chance = random.Random(seed)
    for n in range(60):
        payload = _tree(chance, f"{name}{n}")
        engine.value("select worker.enqueue(%s, %s)", payload["command"], Jsonb(payload))
    engine.drain(None)
    engine.check()
    mine = [f"{name}%"]
    return engine.conn.execute(OUTCOMES, mine).fetchall(), engine.conn.execute(EFFECTS, mine).fetchall()


@pytest.mark.parametrize("seed", often(1, now_and_then=range(2, 40)))
def test_batches_have_the_outcomes_of_single_tasks(committed: Engine, connect: Connect, seed: int) -> None:
    committed.conn.execute("update worker.queue_registry set mode = 'concurrent', max_depth = null ")
    committed.command("quick")
    committed.command("hooked", after_procedure="probe.note")
    fiber = Engine(connect())
    fiber.conn.execute("select set_config('worker.worker_id', worker_id::text, false) from worker.register_worker('w')")
    fiber.value("select set_config('worker.pace', %s, false)", '{"act": [0, 4], "quick": [0, 4], "hooked": [0, 4]}')
    assert _run(fiber, seed, "b") == _run(committed, seed, "a")
