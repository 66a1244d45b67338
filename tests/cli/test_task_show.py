"""``catchment task show``: what is wrong and what to do next."""

from __future__ import annotations

import re

from psycopg.types.json import Jsonb

from tests.fixtures.cli import Run, read_json
from tests.fixtures.engine import Engine
from tests.sql.support import Hand


def test_task_show_has_every_attempt(committed: Engine, cli: Run) -> None:
    committed.command("flaky", max_attempts=2, retry_delay="0")
    task = committed.enqueue("flaky", fail="broken")
    committed.drain()
    shown = read_json(cli("task", "show", str(task), "--json"))
    assert [a["number"] for a in shown["attempts"]] == [1, 2]
    assert "broken" in cli("task", "show", str(task)).stdout
    committed.value("select worker.retry(%s)", task)
    committed.conn.execute("update worker.task set payload = '{}' where id = %s", [task])
    committed.drain()
    said = cli("task", "show", str(task)).stdout
    assert "3 so far, 2 failed, 0 of 2 times since it was retried by hand" in said
    assert re.search(r"1: failed .*\n *2: failed .*\n *retried by hand *\n *3: completed ", said)
    assert re.search(r"started .*, attempt 3; the first at ", said)
    assert ", attempt 3 took " in said


def test_task_show_says_that_a_failure_was_the_last(committed: Engine, cli: Run) -> None:
    committed.command("elsewhere", handler_kind="python", max_attempts=4)
    task = committed.enqueue("elsewhere")
    hand = Hand.hired(committed.conn)
    hand.fail(hand.claim_one(), retryable=False)
    said = cli("task", "show", str(task)).stdout
    assert "1 so far, failed 1 of 4 times" in said
    assert re.search(r"1: failed .*, not retried", said)


def test_runs_of_a_join_are_counted_apart_and_wait_for_their_time(committed: Engine, cli: Run) -> None:
    committed.conn.execute(
        "create procedure probe.join(payload jsonb) language plpgsql as $$ begin raise exception 'no join'; end $$"
    )
    committed.command("joined", join_procedure="probe.join", max_attempts=2, retry_delay="1 hour", retry_jitter=0)
    task = committed.enqueue("joined", spawn=[{}])
    committed.drain()
    assert committed.task(task)["due_at"] is not None
    said = cli("task", "show", str(task)).stdout
    assert f"joined {task}  waiting  it waits: its join failed 1 of 2 times; its next run is at" in said
    assert re.search(r"attempts  1 so far, max_attempts is 2 *\n *1: completed", said)
    assert re.search(r"join  1 run so far, failed 1 of 2 times *\n *1: failed", said)
    committed.conn.execute("update worker.command_registry set retry_delay = '0' where command = 'joined'")
    committed.conn.execute("update worker.blocked set due_at = worker.now() where id = %s", [task])
    committed.drain()
    assert "2 runs so far, failed 2 of 2 times" in cli("task", "show", str(task)).stdout
    committed.value("select worker.retry(%s)", task)
    committed.drain()
    said = cli("task", "show", str(task)).stdout
    assert "4 runs so far, 4 failed, 2 of 2 times since it was retried by hand" in said
    assert re.search(r"2: failed .*\n *retried by hand *\n *3: failed .*\n *4: failed", said)
    assert committed.task(task)["attempt"] == 1
    assert committed.value("select worker.failures_of(%s)", task) == 2
    assert isinstance(read_json(cli("task", "show", str(task), "--json"))["completion_duration_ms"], float)


def test_task_show_names_the_cause_and_the_task_to_retry(committed: Engine, cli: Run) -> None:
    committed.conn.execute("update worker.queue_registry set max_depth = 2 where queue = 'work'")
    root = committed.enqueue(
        spawn=[{"spawn": [{"fail": "the printer is [red]on fire[/]\nor not", "note": "x" * 5000}]}]
    )
    committed.drain()
    (child,) = committed.children(root)
    (leaf,) = committed.children(child)
    shown = cli("task", "show", str(root)).stdout
    first, *rest = shown.splitlines()
    assert first.startswith(f"act {root}  failed  ")
    assert rest[0].strip().startswith("error  1 of 1 children failed: act: the printer is [red]on fire[/]")
    assert shown.index(f"catchment task show {leaf}") < shown.index("payload")
    assert f"catchment task retry {root}  # run its failed children again" in shown
    shown = cli("task", "show", str(leaf)).stdout
    assert f"catchment task retry {root}  # run what has failed in its tree again" in shown
    assert f"child of task {child}, 2 levels below its root {root}" in shown
    assert "x" * 1000 in "".join(shown.split())
    assert "x" * 3000 not in "".join(shown.split())
    assert read_json(cli("task", "show", str(leaf), "--json"))["retry_id"] == root
    refused = cli("task", "retry", str(leaf), code=1).stderr.replace("\n", " ")
    assert f"Retry task {root}: it runs what failed in its tree again" in refused
    assert cli("task", "retry", str(root)).stdout.split()[-1] == "waiting"
    shown = cli("task", "show", str(root)).stdout
    assert f"act {root}  waiting  it waits: the cause is task {leaf} (act)" in shown
    assert re.search(
        r"children  failed \S+ \S+ ago, 1 of 1 children failed: act: the printer .*\n *retried by hand", shown
    )
    committed.value("select worker.cancel(%s, 'the printer burns')", root)
    for arguments in (["show", str(root)], ["tree", str(root)], ["list"]):
        assert "the printer burns" in cli("task", *arguments).stdout
    committed.drain()
    shown = cli("task", "show", str(leaf)).stdout
    assert "the printer burns" in shown
    committed.value("select worker.retry(%s)", root)
    assert committed.conn.execute(
        "select state, error ->> 'kind', is_last from worker.attempt where task_id = %s and phase = 2 order by 1 desc",
        [root],
    ).fetchall() == [("failed", "children", True), ("cancelled", "cancelled", True)]


def test_task_show_names_the_lane_that_is_halted_and_what_to_do(committed: Engine, cli: Run) -> None:
    committed.queue("orders", mode="concurrent")
    committed.command("deliver", "orders")
    bad = committed.enqueue("deliver", lane="bob", fail="no such street")
    behind = committed.enqueue("deliver", lane="bob")
    committed.drain("orders")
    shown = ""
    for task in (bad, behind):
        shown = cli("task", "show", str(task)).stdout
        assert f"catchment task retry {bad}" in shown
        assert "catchment lane skip orders bob  # " in shown
    assert f"deliver {behind}  pending  it waits: lane bob of queue orders has been halted since" in shown
    done = cli("task", "cancel", str(bad))
    assert f"Nothing was done to task {bad}: it has failed already." in done.stderr
    (halted,) = read_json(cli("lane", "list", "--state", "halted", "--json"))
    assert (halted["queue"], halted["lane"], halted["head_id"]) == ("orders", "bob", bad)
    assert "bob" in cli("lane", "list").stdout
    assert "catchment lane skip orders bob" in cli("doctor", "--json").stdout
    skipped = cli("lane", "skip", "orders", "bob", "--json")
    assert read_json(skipped) == {"queue": "orders", "lane": "bob", "skipped_id": bad}
    refused = cli("lane", "skip", "orders", "bob", code=1).stderr
    assert "lane 'bob' of queue 'orders' is not halted" in refused
    assert "catchment lane list" in refused
    committed.drain("orders")
    shown = cli("task", "show", str(bad)).stdout
    assert "lane skip" not in shown
    assert "lane: its lane bob continued without it, as " in shown
    assert "halted" not in cli("task", "show", str(behind)).stdout


def test_task_show_says_that_no_worker_has_the_command(committed: Engine, cli: Run) -> None:
    committed.command("elsewhere", handler_kind="python")
    shown = cli("task", "show", str(committed.enqueue("elsewhere"))).stdout
    assert "pending  it waits: no live worker serves queue work" in shown
    assert "catchment worker --app MODULE:APP  # start one in production" in shown


def test_task_show_says_so_of_a_task_that_was_put_off_too(committed: Engine, cli: Run) -> None:
    """A worker whose app has lost a command puts its tasks off: a next attempt changes nothing."""
    committed.command("elsewhere", handler_kind="python")
    task = committed.enqueue("elsewhere")
    claim = Hand.hired(committed.conn).claim_one()
    committed.value(
        "select worker.settle(array[%s::bigint], array[%s::bigint], array['released'], array[%s::jsonb])",
        claim.id,
        claim.fence,
        Jsonb({"retry_after": 60}),
    )
    committed.conn.execute("delete from worker.worker")
    assert committed.task(task)["waits_for"] == "retry"
    assert "also  No live worker serves queue work." in cli("task", "show", str(task)).stdout


def test_task_show_says_who_gave_a_task_back(committed: Engine, cli: Run) -> None:
    committed.command("elsewhere", handler_kind="python")
    task = committed.enqueue("elsewhere")
    claim = Hand.hired(committed.conn).claim_one()
    why = Jsonb({"kind": "released", "message": "worker 7 (here) stopped"})
    committed.value(
        "select worker.settle(array[%s::bigint], array[%s::bigint], array['released'], array[%s::jsonb])",
        claim.id,
        claim.fence,
        why,
    )
    shown = cli("task", "show", str(task)).stdout
    assert "0 so far, 1 more released" in shown
    assert "s ago: worker 7 (here) stopped" in shown


def test_task_show_tells_a_snooze(committed: Engine, cli: Run) -> None:
    committed.conn.execute(
        "create procedure probe.wait(payload jsonb) language plpgsql as"
        " $$ begin perform worker.snooze('90 minutes', 'no file yet'); end; $$"
    )
    committed.command("wait", handler_procedure="probe.wait")
    task = committed.enqueue("wait")
    committed.drain()
    shown = cli("task", "show", str(task)).stdout
    assert "pending  it waits: its handler has snoozed 1 time, now until" in shown
    assert "no file yet" in shown
    assert read_json(cli("task", "show", str(task), "--json"))["snoozed"]["times"] == 1


def test_times_that_were_written_by_hand_stop_no_reader(committed: Engine, cli: Run) -> None:
    tasks = [committed.enqueue() for _ in range(4)]
    committed.process(p_batch_size=2)
    committed.conn.execute(
        "update worker.task set scheduled_at = 'infinity', created_at = '20000-01-01 12:00+00' where id <> %s",
        [tasks[3]],
    )
    committed.conn.execute(
        "update worker.outcome set started_at = '-infinity', completed_at = '0044-03-15 00:00+00 BC'"
    )
    committed.conn.execute("update worker.ready set since = '-infinity'")
    shown = read_json(cli("task", "show", str(tasks[0]), "--json"))
    assert shown["scheduled_at"] == "infinity"
    assert shown["created_at"] == "20000-01-01 12:00:00+00:00"
    assert shown["process_start_at"] == "-infinity"
    assert shown["completed_at"] == "0044-03-15 00:00:00+00:00 BC"
    assert shown["process_duration_ms"] is None
    assert len(read_json(cli("task", "list", "--json"))) == 4
    for arguments in (["task", "list"], ["task", "show", str(tasks[2])], ["task", "tree", str(tasks[0])]):
        cli(*arguments)
    cli("queue", "list")
    cli("doctor")
    committed.conn.execute("update worker.ready set since = '20000-01-01'")
    cli("queue", "list")


def test_the_cause_below_a_parent_and_a_cancel_that_was_asked_for_are_shown(committed: Engine, cli: Run) -> None:
    committed.queue("slow")
    committed.command("nap", "slow")
    parent = committed.enqueue(spawn=[{"command": "nap"}])
    committed.process()
    (child,) = committed.children(parent)
    cause = f"he cause is task {child} (nap): no live worker serves queue slow"
    assert f"waiting  it waits: t{cause}" in cli("task", "show", str(parent)).stdout
    assert f"cause  T{cause}." in cli("task", "why", str(parent)).stdout
    assert read_json(cli("task", "why", str(parent), "--json"))["conditions"][0]["evidence"]["task_id"] == child
    assert "cause is" not in cli("task", "why", str(child)).stdout

    committed.value("select worker.cancel(%s, 'not needed')", parent)
    shown = cli("task", "show", str(parent)).stdout
    assert "Its cancellation was requested" in shown
    assert "(not needed)" in shown
    committed.process()
    assert "0 of 1 child completed, 1 cancelled" in cli("task", "show", str(parent)).stdout
