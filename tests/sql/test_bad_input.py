"""Bad input: a clear error each time, the loop continues, nothing is lost."""

from __future__ import annotations

import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.sql.support import hint, message, python_work, refused


def _handler(engine: Engine, body: str) -> None:
    """Command ``odd`` runs this PL/pgSQL body."""
    engine.conn.execute(f"create procedure probe.odd(payload jsonb) language plpgsql as $$ begin {body} end; $$")
    engine.command("odd", handler_procedure="probe.odd")


def _fails_and_the_loop_goes_on(engine: Engine, task: int, kind: str) -> str:
    """One call fails the task with this SQLSTATE and runs the next; returns the message."""
    engine.enqueue(note="next")
    assert [t["state"] for t in engine.process()] == ["failed", "completed"]
    assert engine.notes() == ["next"]
    row = engine.task(task)
    assert row["error_detail"]["kind"] == kind
    engine.check()
    return row["error"]


@pytest.mark.parametrize(
    "statement",
    [
        "select worker.enqueue('nonsense')",
        "select worker.enqueue_many('nonsense', array['{}'::jsonb])",
        "insert into worker.tasks (command) values ('nonsense')",
    ],
)
def test_unknown_command_is_refused(engine: Engine, statement: str) -> None:
    with refused(engine, "CM002") as error:
        engine.conn.execute(statement)
    assert message(error) == "unknown command 'nonsense'"
    assert "worker.command_registry" in hint(error)


def test_names_that_are_alike_are_found(engine: Engine) -> None:
    names = ["send_mail", "send", "bill", "ship_order", "ab"]
    meant = {
        "send_mial": "send_mail",
        "sned": "send",
        "bil": "bill",
        "shiporder": "ship_order",
        "sendmail": "send_mail",
    }
    for typed, expected in meant.items():
        assert engine.value("select worker.alike(%s, %s)", typed, names) == expected, typed
    for typed in ("nonsense", "", "x", "print", "y" * 10_000, None):
        assert engine.value("select worker.alike(%s, %s)", typed, names) is None, typed


def test_missing_command_is_refused(engine: Engine) -> None:
    with refused(engine, "CM002") as error:
        engine.conn.execute("select worker.enqueue(null)")
    assert message(error) == "unknown command null"


def test_unknown_command_of_a_child_fails_the_handler_that_spawned_it(engine: Engine) -> None:
    task = engine.enqueue(spawn=[{"command": "nonsense"}])
    assert _fails_and_the_loop_goes_on(engine, task, "CM002") == "unknown command 'nonsense'"


LANES = [("", "is empty", "without a lane"), ("x" * 501, "has 501 characters", "hash")]


@pytest.mark.parametrize(("lane", "says", "hints"), LANES, ids=["empty", "long"])
@pytest.mark.parametrize("is_limited", [False, True])
def test_lane_that_no_task_can_have_is_refused(
    engine: Engine, lane: str, says: str, hints: str, is_limited: bool
) -> None:
    if is_limited:
        engine.conn.execute(
            "update worker.command_registry set limit_key = '{}', max_running = 1 where command = 'act'"
        )
    for statement in (
        "select worker.enqueue('act', p_lane => %s)",
        "select worker.enqueue_many('act', array['{}'::jsonb], p_lanes => array[%s])",
        "insert into worker.tasks (command, lane) values ('act', %s)",
    ):
        with refused(engine, "CM018") as error:
            engine.conn.execute(statement, [lane])
        assert says in message(error)
        assert hints in hint(error)
    assert engine.states() == {}


@pytest.mark.parametrize("at", ["null", "now() + interval '1 day'"])
def test_trace_that_is_too_long_is_refused(engine: Engine, at: str) -> None:
    for statement in (
        f"select worker.enqueue('act', p_trace => %s, p_scheduled_at => {at})",
        f"select worker.enqueue_many('act', array['{{}}'::jsonb], p_trace => %s, p_scheduled_at => {at})",
    ):
        with refused(engine, "CM018") as error:
            engine.conn.execute(statement, ["x" * 201])
        assert "the trace of act has 201 characters" in message(error)
        assert "traceparent" in hint(error)
    assert engine.states() == {}


@pytest.mark.parametrize("argument", ["p_lane => ''", "p_trace => repeat('x', 201)"])
def test_follow_up_with_a_bad_lane_or_trace_fails_its_handler(engine: Engine, argument: str) -> None:
    _handler(engine, f"perform worker.follow_up('act', {argument});")
    assert "of act" in _fails_and_the_loop_goes_on(engine, engine.enqueue("odd"), "CM018")


def test_child_of_a_python_task_with_a_long_trace_is_refused(engine: Engine) -> None:
    hand = python_work(engine)
    engine.enqueue()
    (claim,) = hand.claim(1)
    with refused(engine, "CM018") as error:
        spawns = Jsonb([{"command": "act", "payload": {}, "trace": "x" * 201}])
        engine.conn.execute("select worker.spawn_children(%s, %s, %s, null, null)", [claim.id, claim.fence, spawns])
    assert "the trace of act has 201 characters" in message(error)


@pytest.mark.parametrize("payload", ["[1, 2]", '"text"', "5", "true", "null"])
def test_payload_that_is_no_object_is_refused(engine: Engine, payload: str) -> None:
    for statement in (
        "select worker.enqueue('act', %s)",
        "select worker.enqueue_many('act', array[%s::jsonb])",
        "insert into worker.tasks (command, payload) values ('act', %s)",
    ):
        with refused(engine, "CM004") as error:
            engine.conn.execute(statement, [payload])
        assert "expected an object" in message(error)
        assert "Wrap it" in hint(error)
    assert engine.states() == {}


@pytest.mark.long
def test_payload_of_100_megabytes_is_refused(engine: Engine) -> None:
    for statement in (
        "select worker.enqueue('act', jsonb_build_object('a', repeat('x', 100 * 1024 * 1024)))",
        "insert into worker.tasks (command, payload)"
        " select 'act', jsonb_build_object('a', repeat('x', 17 * 1024 * 1024))",
    ):
        with refused(engine, "CM004") as error:
            engine.conn.execute(statement)
        assert "at most 16777216 are taken" in message(error)
        assert "put its key in the payload" in hint(error)
    assert engine.states() == {}


def test_payload_of_some_megabytes_is_taken_and_runs(engine: Engine) -> None:
    task = engine.value("select worker.enqueue('act', jsonb_build_object('a', repeat('x', 5 * 1024 * 1024)))")
    engine.process()
    assert engine.state(task) == "completed"


def test_nul_in_a_payload_is_refused(engine: Engine) -> None:
    with refused(engine, "22P05"):
        engine.conn.execute("""select worker.enqueue('act', '{"a": "\\u0000"}')""")
    assert engine.states() == {}


def test_spawn_under_a_settled_parent_fails_the_handler_alone(engine: Engine) -> None:
    settled = engine.enqueue()
    engine.process()
    _handler(engine, "call worker.spawn('act', p_parent_id => (payload ->> 'to')::bigint);")
    task = engine.enqueue("odd", to=settled)
    assert _fails_and_the_loop_goes_on(engine, task, "CM005") == f"task {settled} takes no children: it is completed"


def test_handler_that_raises(engine: Engine) -> None:
    task = engine.enqueue(fail="boom")
    assert _fails_and_the_loop_goes_on(engine, task, "P0001") == "boom"


def test_handler_that_divides_by_zero(engine: Engine) -> None:
    _handler(engine, "perform 1 / 0;")
    assert _fails_and_the_loop_goes_on(engine, engine.enqueue("odd"), "22012") == "division by zero"


def test_handler_that_fails_an_assertion(engine: Engine) -> None:
    _handler(engine, "assert false, 'it must be so';")
    assert _fails_and_the_loop_goes_on(engine, engine.enqueue("odd"), "P0004") == "it must be so"


def test_handler_that_runs_into_a_statement_limit(engine: Engine) -> None:
    _handler(engine, "set local lock_timeout = '1ms'; raise query_canceled using message = 'cut off';")
    assert _fails_and_the_loop_goes_on(engine, engine.enqueue("odd"), "57014") == "cut off"


def test_writes_of_a_handler_that_raises_are_undone(engine: Engine) -> None:
    _handler(engine, "insert into probe.effect (note) values ('gone'); raise exception 'no';")
    _fails_and_the_loop_goes_on(engine, engine.enqueue("odd"), "P0001")


def test_missing_handler(engine: Engine) -> None:
    engine.command("odd", handler_procedure="probe.nowhere")
    task = engine.enqueue("odd")
    text = _fails_and_the_loop_goes_on(engine, task, "CM012")
    assert text == "the handler probe.nowhere of odd does not exist"
    assert "(payload jsonb)" in engine.task(task)["error_detail"]["hint"]


@pytest.mark.parametrize("name", ["no such name at all", "a.b.c.d", '"half', "", "probe.act; drop table probe.effect"])
def test_handler_whose_name_is_nonsense(engine: Engine, name: str) -> None:
    engine.command("odd", handler_procedure=name)
    text = _fails_and_the_loop_goes_on(engine, engine.enqueue("odd"), "CM012")
    assert "does not exist" in text


def test_handler_with_other_parameters(engine: Engine) -> None:
    engine.conn.execute("create procedure probe.odd(payload text) language sql as 'select 1'")
    engine.command("odd", handler_procedure="probe.odd")
    _fails_and_the_loop_goes_on(engine, engine.enqueue("odd"), "CM012")


def test_command_that_was_taken_out_of_the_registry(engine: Engine) -> None:
    engine.command("odd")
    task = engine.enqueue("odd")
    engine.conn.execute("delete from worker.command_registry where command = 'odd'")
    text = _fails_and_the_loop_goes_on(engine, task, "CM012")
    assert text == "the registry has no handler of odd any more"


def test_join_that_was_taken_out_of_the_registry(engine: Engine) -> None:
    engine.command("odd", join_procedure="probe.nowhere")
    task = engine.enqueue("odd", spawn=[{}])
    engine.drain()
    assert engine.task(task)["error"] == "the handler probe.nowhere of odd does not exist"
    engine.check()


def test_handler_that_commits(committed: Engine) -> None:
    _handler(committed, "insert into probe.effect (note) values ('half'); commit;")
    text = _fails_and_the_loop_goes_on(committed, committed.enqueue("odd"), "2D000")
    assert text == "invalid transaction termination"


def test_handler_that_runs_other_tasks(committed: Engine) -> None:
    _handler(committed, "call worker.process_tasks('work');".replace("'work'", "p_queue => 'work'"))
    task = committed.enqueue("odd")
    text = _fails_and_the_loop_goes_on(committed, task, "CM025")
    assert text == f"the handler of task {task} cannot run other tasks"
    assert "Spawn them" in committed.task(task)["error_detail"]["hint"]


def test_deferred_constraint_that_fails_is_the_handlers_failure(committed: Engine) -> None:
    committed.conn.execute(
        "create table probe.parent (id int primary key);"
        "create table probe.child (id int references probe.parent deferrable initially deferred)"
    )
    _handler(committed, "insert into probe.child values (1);")
    _fails_and_the_loop_goes_on(committed, committed.enqueue("odd"), "23503")


def test_unknown_queue(engine: Engine) -> None:
    engine.conn.execute("select worker.register_worker('probe')")
    for statement in (
        "call worker.process_tasks(p_queue => 'nowhere')",
        "call worker.drain('nowhere')",
        "select worker.pause_queue('nowhere')",
        "select worker.resume_queue('nowhere')",
        "select worker.claim_tasks((select max(worker_id) from worker.worker), '{nowhere}', 1)",
    ):
        with refused(engine, "CM003") as error:
            engine.conn.execute(statement)
        assert message(error) == "unknown queue 'nowhere'"


def test_unknown_worker_gets_no_tasks(engine: Engine) -> None:
    python_work(engine)
    with refused(engine, "CM017") as error:
        engine.conn.execute("select worker.claim_tasks(4711, '{work}', 1)")
    assert message(error) == "worker 4711 is not registered"
    assert "Register again" in hint(error)


def test_unknown_mode(engine: Engine) -> None:
    with refused(engine, "CM018") as error:
        engine.conn.execute("call worker.process_tasks(p_queue => 'work', p_mode => 'sideways')")
    assert "mode 'sideways' is unknown, expected top, child" in message(error)


def test_registry_refuses_what_could_not_work(engine: Engine) -> None:
    for table, columns in {
        "queue_registry": [
            "queue, mode) values ('q', 'random'",
            "queue, concurrency) values ('q', 0",
            "queue) values (''",
        ],
        "command_registry": [
            "command, queue) values ('c', 'work'",
            "command, queue, handler_procedure, max_attempts) values ('c', 'work', 'x', 0",
            "command, queue, handler_procedure, merge) values ('c', 'work', 'x', '{\"a\": \"add\"}'",
            "command, queue, handler_kind) values ('c', 'work', 'cobol'",
        ],
    }.items():
        for rest in columns:
            with refused(engine, "23514"):
                engine.conn.execute(f"insert into worker.{table} ({rest})")
    with refused(engine, "23503"):
        engine.command("c", "nowhere")


def test_lanes_and_payloads_of_a_bulk_enqueue_must_match(engine: Engine) -> None:
    with refused(engine, "CM018") as error:
        engine.conn.execute("select worker.enqueue_many('act', array['{}', '{}']::jsonb[], p_lanes => array['a'])")
    assert message(error) == "1 lanes for 2 payloads, expected one lane for each"


def test_fail_without_an_error_still_says_something(engine: Engine) -> None:
    hand = python_work(engine)
    task = engine.enqueue()
    claim = hand.claim_one()
    engine.value("select worker.fail_task(%s, %s, null)", claim.id, claim.fence)
    assert engine.task(task)["error"] == "failed"
    engine.check()


def test_fail_with_nonsense_in_its_error_still_fails_the_task(engine: Engine) -> None:
    hand = python_work(engine, max_attempts=2, retry_delay="0")
    for error in ({"retryable": "maybe"}, {"retry_after": "a while"}, {"retryable": [1]}):
        task = engine.enqueue()
        assert hand.fail(hand.claim_one(), **error) == "pending"
        engine.value("select worker.cancel(%s)", task)
    engine.check()
