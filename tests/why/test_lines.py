"""What a task stands in line for is said the same by every column, count and list, also while nothing claims: the next
claim lets in what is due or has arrived, so that waits for nothing."""

from __future__ import annotations

from typing import Any

from tests.fixtures.engine import Engine
from tests.sql.support import advance_clock, stop_clock
from tests.why.situations import Stage


def _python(engine: Engine, **options: Any) -> None:
    engine.queue("shop", mode="concurrent")
    engine.command("ship", "shop", handler_kind="python", handler_procedure="shop.orders:ship", **options)


def _waits(engine: Engine, *tasks: int) -> list[str | None]:
    return [engine.task(task)["waits_for"] for task in tasks]


def _figures(engine: Engine) -> tuple[int, int, int]:
    """Ready, blocked and later, of those who count in full and of those who count a part."""
    (counted,) = engine.conn.execute("select ready, blocked from worker.queues where queue = 'shop'").fetchall()
    sql = "select ready, blocked, later from worker.queue_figures(worker.now()) where queue = 'shop'"
    ((ready, blocked, later),) = engine.conn.execute(sql).fetchall()
    assert counted == (ready, blocked + later)
    return ready, blocked, later


def _unserved(engine: Engine) -> list[tuple[str, int]]:
    return engine.conn.execute("select command, tasks from worker.unserved_commands()").fetchall()


def test_the_first_task_of_a_new_lane_waits_for_nothing_but_a_worker(engine: Engine) -> None:
    _python(engine)
    first, second, other = (engine.enqueue("ship", lane=lane) for lane in ("ada", "ada", "bo"))
    assert _waits(engine, first, second, other) == [None, "lane", None]
    assert _figures(engine) == (2, 1, 0)
    assert _unserved(engine) == [("ship", 2)]
    lanes = engine.conn.execute("select lane, state, head_id from worker.lanes order by lane").fetchall()
    assert lanes == [("ada", "ready", first), ("bo", "ready", other)]
    words = engine.value("select words from worker.explain(%s) limit 1", second)
    assert words == f"In lane ada of queue shop, task {first} (ship) is before it, ready."
    causes = [engine.value("select kind from worker.root_cause(%s)", task) for task in (first, second, other)]
    assert causes == ["no_worker"] * 3
    engine.value("select worker.let_in()")
    assert _waits(engine, first, second, other) == [None, "lane", None]
    assert _figures(engine) == (2, 1, 0)


def test_a_task_that_has_become_due_waits_for_no_time(engine: Engine) -> None:
    stop_clock(engine, "2030-01-01 12:00:00+00")
    _python(engine)
    sql = "select worker.enqueue('ship', p_lane => %s, p_scheduled_at => worker.now() + interval '1 minute')"
    alone, late = engine.value(sql, None), engine.value(sql, "ada")
    assert _waits(engine, alone, late) == ["scheduled", "scheduled"]
    assert _figures(engine) == (0, 0, 2)
    engine.enqueue("ship", lane="ada")
    advance_clock(engine, "2 minutes")
    assert _waits(engine, alone, late) == [None, "lane"]
    assert _figures(engine) == (2, 0, 1)


def test_a_limit_holds_only_those_that_it_does_not_let_in(engine: Engine) -> None:
    _python(engine, limit_key=[], max_running=2)
    tasks = [engine.enqueue("ship") for _ in range(3)]
    assert _waits(engine, *tasks) == [None, None, "limit"]
    assert _figures(engine) == (2, 1, 0)
    engine.value("select worker.let_in()")
    assert _waits(engine, *tasks) == [None, None, "limit"]
    assert _figures(engine) == (2, 1, 0)


def test_a_limited_queue_holds_those_that_it_does_not_start(engine: Engine) -> None:
    """Every column, count and list says what ``explain`` says: two may run, one runs, so one of three is ready."""
    _python(engine)
    engine.conn.execute("update worker.queue_registry set max_running = 2 where queue = 'shop'")
    running, *tasks = [engine.enqueue("ship") for _ in range(4)]
    worker_id = engine.value("select worker_id from worker.register_worker('w', '{shop}', p_python_queues => '{shop}')")
    engine.value("select id from worker.claim_tasks(%s, '{shop}', 1)", worker_id)
    kinds = "select array_agg(kind) from worker.explain(%s)"
    for waits, ready, said in (
        ([None, "limit", "limit"], 1, ["ready"]),
        (["limit"] * 3, 0, ["max_running"]),
    ):
        assert _waits(engine, *tasks) == waits
        assert _figures(engine) == (ready, 3 - ready, 0)
        assert engine.value("select waiting from worker.queue_limits()") == 3 - ready
        assert engine.value("select oldest_ready_since is null from worker.queues where queue = 'shop'") == (not ready)
        assert [engine.value(kinds, task) for task in tasks] == [said, ["max_running"], ["max_running"]]
        engine.conn.execute("update worker.queue_registry set max_running = 1 where queue = 'shop'")
    late = engine.enqueue("ship", lane="ada")
    assert _waits(engine, late) == ["limit"]
    assert engine.value("select state from worker.lanes where lane = 'ada'") == "waiting"
    assert engine.value("select state from worker.lane_figures('longest')") == "waiting"
    engine.conn.execute("update worker.queue_registry set max_running = null, rate = 1, rate_per = '1 h'")
    assert _figures(engine) == (0, 4, 0)
    assert engine.value("select next_at > worker.now() from worker.queue_limits() where queue = 'shop'")
    assert engine.task(running)["waits_for"] is None


def test_a_serial_queue_has_one_task_that_is_ready(engine: Engine) -> None:
    engine.queue("shop", mode="serial")
    engine.command("ship", "shop", handler_kind="python")
    tasks = [engine.enqueue("ship") for _ in range(3)]
    assert _waits(engine, *tasks) == [None, "lane", "lane"]
    assert _figures(engine) == (1, 2, 0)
    worker_id = engine.value("select worker_id from worker.register_worker('w', '{shop}', p_python_queues => '{shop}')")
    engine.value("select id from worker.claim_tasks(%s, '{shop}', 9)", worker_id)
    assert _waits(engine, *tasks) == [None, "lane", "lane"]
    assert _figures(engine) == (0, 2, 0)


def test_free_slots_are_those_that_the_task_could_have(engine: Engine) -> None:
    """A worker with Python commands has sessions for SQL handlers, which are no slots: nothing is said of these."""
    task = engine.enqueue()
    words = "select words from worker.explain(%s)"
    register = "select worker_id from worker.register_worker(%s, '{work}', 4, '1 hour', false, %s)"
    engine.value(register, "both", ["work"])
    assert engine.value(words, task).endswith("; 1 live worker serves it.")
    engine.value(register, "sql", [])
    assert engine.value(words, task).endswith("; 2 live workers serve it, with 4 free slots.")


def test_the_cause_is_found_behind_the_task_that_is_waited_for(engine: Engine) -> None:
    stage = Stage(engine)
    engine.command("rare", "mail", handler_kind="python", handler_procedure="mail.rare:rare")
    engine.value("select worker.unregister_worker(%s)", stage.worker_id)
    stage.worker_id = stage.hire("host-b", python_queues=["mail"], python_commands=["send"])
    parent = stage.enqueue()
    stage.claim()
    spawns = [{"command": "send", "payload": {}}, {"command": "rare", "payload": {}}]
    stage.complete(parent, spawns=spawns)
    stage.claim(limit=1)
    rare = engine.value("select max(id) from worker.tasks where command = 'rare'")
    sql = "select task_id, command, is_urgent, kind, remedy from worker.root_cause(%s)"
    remedy = (
        "catchment dev mail.rare  # start a worker while you develop\n"
        "catchment worker --app mail.rare  # start one in production\n"
        "catchment task cancel --command rare  # if it was removed or renamed"
    )
    assert engine.conn.execute(sql, [parent]).fetchall() == [(rare, "rare", True, "no_command", remedy)]
    stage.hire("host-c", python_queues=["mail"], python_commands=["rare"])
    assert engine.conn.execute(sql, [parent]).fetchall()[0][:4] == (parent, "send", False, "children")
    assert engine.conn.execute(sql, [stage.enqueue()]).fetchall() == []
