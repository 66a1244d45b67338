"""``catchment lane …``."""

from __future__ import annotations

import pytest

from tests.fixtures.cli import Run, read_json
from tests.fixtures.engine import Engine


@pytest.fixture
def shop(committed: Engine) -> Engine:
    committed.queue("orders", mode="concurrent")
    committed.command("deliver", "orders")
    return committed


def test_lane_list_says_what_each_lane_does_and_how_many_tasks_it_has(shop: Engine, cli: Run) -> None:
    shop.command("again", "orders", max_attempts=2, retry_delay="1 hour")
    bad = [shop.enqueue("deliver", lane="bad", fail="no") for _ in range(3)]
    late = [shop.enqueue("again", lane="late", fail="no") for _ in range(2)]
    shop.drain("orders")
    new = [shop.enqueue("deliver", lane="new") for _ in range(3)]
    rows = read_json(cli("lane", "list", "--json"))
    assert [(row["lane"], row["state"], row["tasks"], row["head_id"]) for row in rows] == [
        ("bad", "halted", 3, bad[0]),
        ("late", "waiting", 2, late[0]),
        ("new", "ready", 3, new[0]),
    ]
    assert [row["lane"] for row in read_json(cli("lane", "list", "--state", "ready", "--json"))] == ["new"]
    assert read_json(cli("lane", "list", "--queue", "work", "--state", "ready", "--json")) == []
    assert "Did you mean orders?" in cli("lane", "list", "--queue", "order", code=1).stderr
    assert cli("lane", "list").stdout.splitlines()[0].split()[:4] == ["queue", "lane", "state", "tasks"]
    assert shop.value("select tasks from worker.list_lanes('orders', 'ready', p_most => 2)") == 2


def test_the_top_level_of_a_serial_queue_counts_its_tasks(committed: Engine, cli: Run) -> None:
    parent = committed.enqueue(spawn=[{}])
    for _ in range(3):
        committed.enqueue()
    committed.process()
    (row,) = read_json(cli("lane", "list", "--json"))
    assert (row["queue"], row["lane"], row["state"], row["head_id"]) == ("work", "", "waiting", parent)
    assert row["tasks"] == 4


def test_lane_skip_without_its_queue_says_what_to_type(shop: Engine, cli: Run) -> None:
    shop.enqueue("deliver", lane="bo", fail="no")
    shop.drain("orders")
    said = cli("lane", "skip", "bo", code=1).stderr.replace("\n", " ")
    assert "unknown queue 'bo'" in said
    assert "Lane bo of queue orders is halted: catchment lane skip orders bo" in said
    said = cli("lane", "skip", "elsewhere", "bo", code=1).stderr.replace("\n", " ")
    assert "catchment lane skip QUEUE LANE" in said
    assert "Did you mean orders?" in cli("lane", "skip", "order", "bo", code=1).stderr
    assert "queue 'orders' is not halted" in cli("lane", "skip", "orders", code=1).stderr


def test_a_task_that_its_lane_has_left_behind_says_its_error_and_that_a_retry_is_out_of_turn(
    shop: Engine, cli: Run
) -> None:
    task = shop.enqueue("deliver", lane="bo", fail=f"no such street\nat all{'.' * 300}")
    shop.drain("orders")
    assert "out of turn" not in cli("task", "why", str(task)).stdout
    cli("lane", "skip", "orders", "bo")
    again = f"catchment task retry {task}  # run it again, out of turn: its lane has continued without it\n"
    assert again in cli("task", "show", str(task)).stdout
    said = cli("task", "why", str(task)).stdout
    assert again in said
    assert "no such street\n" in said
