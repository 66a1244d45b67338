"""A database with something on every screen: all states, a scope, lanes, limits, a schedule, a worker, a bulk, and text
that would be markup."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine

HOSTILE = "<script>document.title = 'owned'</script> & \"'"


def fill(engine: Engine) -> dict[str, int]:
    """Make it; returns ids of some tasks by what they are."""
    engine.command("strange <b>", "work")
    engine.queue("mail", mode="concurrent")
    engine.command("send", "mail", limit_key=[], max_running=1)
    engine.command("post", "mail", handler_kind="python")
    engine.command("sort", "mail")
    done = engine.enqueue(note="x", info={"rows": 12345678901234567890})
    failed = engine.enqueue(fail=HOSTILE)
    parent = engine.enqueue(spawn=[{"fail": "no"}, {"note": HOSTILE}, {}])
    engine.drain()
    open_scope = engine.enqueue(spawn=[{}, {}])
    engine.process(p_batch_size=1)
    halted = engine.enqueue("sort", lane="customer 17", fail="no such address")
    behind = engine.enqueue("sort", lane="customer 17")
    engine.drain("mail")
    for _ in range(3):
        engine.enqueue("send")
    pending = engine.enqueue("post", lane=f"lane {HOSTILE}")
    cancelled = engine.enqueue()
    engine.value("select worker.cancel(%s)", cancelled)
    later = engine.value(
        "insert into worker.tasks (command, scheduled_at) values ('act', now() + interval '1 hour') returning id"
    )
    engine.conn.execute("insert into worker.schedule (name, command, cron) values ('nightly <i>', 'act', '5 3 * * *')")
    engine.conn.execute(
        "select worker.register_worker('host-a', array['work', 'mail'], 8, '1 hour', false, array['mail'],"
        " array['post'], 4711, '0.1.0')"
    )
    bulk = engine.value("select worker.start_bulk('retry', %s, p_actor => 'ada')", Jsonb({"command": "strange <b>"}))
    return {
        "done": done,
        "failed": failed,
        "parent": parent,
        "scope": open_scope,
        "halted": halted,
        "behind": behind,
        "pending": pending,
        "cancelled": cancelled,
        "later": later,
        "bulk": bulk,
    }
