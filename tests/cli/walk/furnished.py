"""A database with everything that there is: tasks in all states, lanes, schedules, limits, workers, and long names."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.sql.support import Hand, enqueue_in

# Ids have this many digits after a few years.
FIRST_ID = 1_234_567_890_000
QUEUE = 'queue of the department for "it\'s" reports and other long names'
COMMAND = "statistics.monthly.derive_statistical_unit_facet_of_every_region"
LANE = "customer 4711 [bold]of[/] Østlandet / 東京 with a name that is long"
HOST = "worker-17.eu-north-1.compute.internal.example.org"
ERROR = "the partner answered 503 Service Unavailable\nafter 3 tries at https://partner.example.org/api " + "x" * 250
# One for each time that a case is run.
SLOTS = ("pipe", "60", "80", "200", "json", "spare")


@dataclass(frozen=True)
class Furnished:
    """Ids of tasks by their states, and of the worker."""

    tasks: dict[str, int]
    worker_id: int


def furnish(engine: Engine) -> Furnished:
    """Everything at once. The SQL handlers are done with when it returns; one Python task runs for ever."""
    value = engine.value
    value("select setval(pg_get_serial_sequence('worker.task', 'id'), %s)", FIRST_ID)
    engine.queue(QUEUE, mode="concurrent", description="Reports " * 30)
    engine.command(
        COMMAND, QUEUE, handler_kind="python", max_attempts=3, timeout="00:30:00", description="Derive " * 30
    )
    engine.command("limited", QUEUE, handler_kind="python", limit_key=["tenant"], max_running=1)
    engine.command("merged", QUEUE, handler_kind="python", dedup=["day"], merge={"ids": "union"})
    engine.queue("lanes", mode="concurrent")
    engine.command("lane_act", "lanes")
    engine.command("broken", handler_procedure="probe.gone")
    tasks: dict[str, int] = {}

    for slot in SLOTS:
        engine.enqueue("lane_act", lane=f"{LANE} {slot}", fail=ERROR)
        engine.enqueue("lane_act", lane=f"{LANE} {slot}")
    engine.drain("lanes")

    tasks["failed"] = engine.enqueue(fail=ERROR, note="x" * 3000)
    engine.drain()
    tasks["completed"] = engine.enqueue(note="well", info={"rows": 3})
    tasks["scope failed"] = engine.enqueue(spawn=[{"fail": ERROR}, *[{"note": str(n)} for n in range(60)]])
    engine.drain()
    tasks["cancelled"] = enqueue_in(engine, "1 hour", note="later")
    value("select worker.cancel(%s, %s)", tasks["cancelled"], "no longer wanted " * 10)
    tasks["later"] = enqueue_in(engine, "1 hour")
    tasks["waiting"] = engine.enqueue(spawn=[{"note": str(n)} for n in range(3)])
    engine.process()
    tasks["pending"] = engine.enqueue(fail=ERROR)

    worker_id = value(
        "select worker_id from worker.register_worker(%s, %s, 1000, '1 day', false, %s, %s, 4194304, '1.2.3')",
        *(HOST, ["work", "lanes"], [QUEUE], [COMMAND, "limited"]),
    )
    hand = Hand(engine, worker_id)
    value("update worker.worker set memory_usage = 0.5, loop_lag = 0.01 where worker_id = %s returning 1", worker_id)
    for slot in SLOTS:
        value("select worker_id from worker.register_worker(%s, p_has_lock => false)", f"short {slot}")
    silent = value("select worker_id from worker.register_worker('silent', p_has_lock => false)")
    engine.conn.execute(
        "update worker.worker set lease_until = now() - interval '1 hour' where worker_id = %s", [silent]
    )

    tasks["interrupted"] = engine.enqueue(COMMAND)
    tasks["retry"] = engine.enqueue(COMMAND)
    tasks["processing"] = engine.enqueue(COMMAND, lane=LANE)
    claims = {claim.id: claim for claim in hand.claim(10, QUEUE)}
    hand.interrupt(claims[tasks["interrupted"]])
    hand.fail(claims[tasks["retry"]], message=ERROR, where="/srv/shop/tasks.py:17 in send", context="line\n" * 40)
    for n in range(3):
        engine.enqueue("limited", tenant="a", number=n)
    first = engine.enqueue("merged", day="2026-01-01", ids=[1])
    engine.enqueue("merged", day="2026-01-01", ids=[2])
    tasks["merged"] = first

    _schedules(engine)
    value("select worker.pause_queue('lanes', now() + interval '1 hour')")
    return Furnished(tasks, worker_id)


def _schedules(engine: Engine) -> None:
    rows = [
        ("hourly", "act", None, "0 * * * *", "UTC", True),
        (
            'every month, of "all" it\'s [bold]departments[/] and regions',
            COMMAND,
            None,
            "30 4 1 * mon",
            "Europe/Oslo",
            True,
        ),
        ("paused", "act", "00:05:00", None, "UTC", False),
        ("fired", "act", "00:05:00", None, "UTC", True),
    ]
    for name, command, every, cron, zone, enabled in rows:
        engine.conn.execute(
            "insert into worker.schedule (name, command, every, cron, timezone, payload, enabled)"
            " values (%s, %s, %s, %s, %s, %s, %s)",
            [name, command, every, cron, zone, Jsonb({}), enabled],
        )
    engine.value("select worker.run_schedule('fired')")
    engine.conn.execute("update worker.schedule set next_at = now() - interval '1 hour' where name = 'fired'")
    engine.value("select worker.fire_schedule('fired')")
