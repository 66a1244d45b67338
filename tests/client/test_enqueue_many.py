"""Enqueue many tasks: order, lanes, all or none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from psycopg import AsyncConnection

from catchment import App, ArgumentsInvalid, CommandNotRegistered, Item, RequestRefused
from catchment.store.array_text import array_literal
from tests.client.support import Shop
from tests.fixtures.often import some, some_rows


def items(shop: Shop, count: int) -> list[Item[int]]:
    return [shop.send.item(to=str(n)) for n in range(count)]


def mappings(count: int) -> list[dict[str, Any]]:
    return [{"to": str(n)} for n in range(count)]


@pytest.mark.parametrize("batch_size", some([1, 3, 10, 1000], one_in=2))
def test_ids_come_in_the_order_of_the_payloads(shop: Shop, batch_size: int) -> None:
    ids = shop.run(lambda: shop.send.enqueue_many(items(shop, 10), batch_size=batch_size))
    assert ids == shop.column("id")
    assert [shop.engine.task(task)["payload"]["to"] for task in ids] == [str(n) for n in range(10)]


def test_payloads_may_come_from_a_generator(shop: Shop) -> None:
    ids = shop.run(lambda: shop.send.enqueue_many((item for item in items(shop, 5)), batch_size=2))
    assert len(set(ids)) == 5


def test_no_payloads_make_no_tasks(shop: Shop) -> None:
    assert shop.run(lambda: shop.send.enqueue_many([])) == []


@pytest.mark.parametrize(
    ("lane", "lanes"),
    some_rows(
        [
            (None, [None] * 4),
            ("w", ["w"] * 4),
            (["a", "b", "a", None], ["a", "b", "a", None]),
            (lambda payload: f"to {payload['to']}", ["to 0", "to 1", "to 2", "to 3"]),
        ],
        one_in=2,
    ),
)
def test_a_lane_is_one_for_all_one_for_each_or_a_function(shop: Shop, lane: Any, lanes: list[Any]) -> None:
    shop.run(lambda: shop.app.enqueue_many("send", mappings(4), lane=lane, batch_size=3))
    assert shop.column("lane") == lanes


@pytest.mark.parametrize("count", [3, 5])
def test_as_many_lanes_as_payloads_are_expected(shop: Shop, count: int) -> None:
    with pytest.raises(RequestRefused, match=f"{count} lanes for 4"):
        shop.run(lambda: shop.app.enqueue_many("send", mappings(4), lane=["w"] * count))
    assert shop.column("id") == []


def test_text_of_any_kind_survives(shop: Shop) -> None:
    texts = ['"', "\\", "\n", "{}", "a,b", "NULL", "é\u2028", "'", '\\"', ""]
    shop.run(lambda: shop.send.enqueue_many([shop.send.using(lane=t or "x").item(to=t) for t in texts]))
    assert shop.column("payload ->> 'to'") == texts
    assert shop.column("lane") == [t or "x" for t in texts]


@pytest.mark.parametrize("items", [[], [""], ["a"], ["a", None], [None], ["\n", "b"], ['"\\']])
def test_an_array_literal_is_read_back_as_it_was(shop: Shop, items: list[str | None]) -> None:
    assert shop.engine.value("select %s::text[]", array_literal(items)) == items


def test_one_invalid_payload_refuses_all(shop: Shop) -> None:
    with pytest.raises(ArgumentsInvalid):
        shop.run(lambda: shop.app.enqueue_many("send", [*mappings(5), {"to": 1}], batch_size=2))
    with pytest.raises(RequestRefused, match=r"an item is \{'to': '5'\}, expected what"):
        shop.run(lambda: shop.send.enqueue_many([*items(shop, 5), {"to": "5"}], batch_size=2))  # type: ignore[list-item]
    assert shop.column("id") == []


def test_one_payload_that_the_server_refuses_takes_all_back(shop: Shop) -> None:
    bad = [*items(shop, 5), shop.send.item(to="a")]
    bad[-1].payload = r'{"to": "\u0000"}'  # which the client would refuse
    with pytest.raises(RequestRefused):
        shop.run(lambda: shop.send.enqueue_many(bad, batch_size=2))
    assert shop.column("id") == []
    assert len(shop.run(lambda: shop.send.enqueue_many(items(shop, 2)))) == 2


def test_an_unknown_name_is_refused(shop: Shop) -> None:
    with pytest.raises(CommandNotRegistered):
        shop.run(lambda: shop.app.enqueue_many("nowhere", [{}] * 5, batch_size=2))


def test_a_mapping_is_no_list_of_mappings(shop: Shop) -> None:
    with pytest.raises(RequestRefused, match="arguments is a mapping"):
        shop.run(lambda: shop.app.enqueue_many("send", {"to": "a"}))  # type: ignore[arg-type]
    with pytest.raises(RequestRefused, match=r"items is \{'to': 'a'\}, expected a sequence of items"):
        shop.run(lambda: shop.send.enqueue_many({"to": "a"}))  # type: ignore[arg-type]


@pytest.mark.parametrize("option", [{"priority": 5}, {"delay": 5}, {"at": datetime(2030, 1, 1, tzinfo=UTC)}])
def test_options_but_the_lane_are_one_for_all(shop: Shop, option: dict[str, Any]) -> None:
    (name,) = option
    mixed = [*items(shop, 2), shop.send.using(**option).item(to="a")]
    with pytest.raises(RequestRefused, match=f"{name} of an item of send is .*, and of all it is None"):
        shop.run(lambda: shop.send.enqueue_many(mixed))
    shop.run(lambda: shop.send.using(lane="w", **option).enqueue_many(mixed))
    assert shop.column("lane") == ["w"] * 3


def test_the_app_is_one_for_all(shop: Shop) -> None:
    other = App("host=/nonexistent")
    mixed = [shop.send.item(to="a"), shop.send.using(app=other).item(to="a")]
    with pytest.raises(RequestRefused, match="app is given with an item of send"):
        shop.run(lambda: shop.send.enqueue_many(mixed))
    with pytest.raises(RequestRefused, match="app is given with an item of send"):
        shop.send.sync.enqueue_many(mixed)
    assert shop.column("id") == []
    assert len(shop.run(lambda: shop.send.using(app=shop.app).enqueue_many([shop.send.item(to="a")]))) == 1


def test_items_of_another_command_are_refused(shop: Shop) -> None:
    with pytest.raises(RequestRefused, match="an item of gather is among those of send"):
        shop.run(lambda: shop.send.enqueue_many([shop.gather.item(customer=1, items=[])]))


def test_duplicates_get_the_id_of_the_task_that_took_them_in(shop: Shop) -> None:
    many = [shop.gather.item(customer=n % 2, items=[n]) for n in range(6)]
    ids = shop.run(lambda: shop.gather.enqueue_many(many))
    assert ids == ids[:2] * 3
    assert shop.engine.task(ids[0])["payload"] == {"customer": 0, "items": [0, 2, 4]}


@pytest.mark.parametrize("is_committed", [True, False])
def test_many_tasks_belong_to_the_transaction_of_the_caller(shop: Shop, db: str, is_committed: bool) -> None:
    async def scenario() -> None:
        async with await AsyncConnection.connect(db) as conn:
            await shop.send.using(conn=conn).enqueue_many(items(shop, 5), batch_size=2)
            assert shop.column("id") == []
            await (conn.commit() if is_committed else conn.rollback())

    shop.run(scenario)
    assert len(shop.column("id")) == (5 if is_committed else 0)


def test_an_invalid_payload_leaves_the_transaction_of_the_caller_as_it_was(shop: Shop, db: str) -> None:
    async def scenario() -> None:
        async with await AsyncConnection.connect(db) as conn:
            await shop.send.using(conn=conn).enqueue(to="kept")
            with pytest.raises(ArgumentsInvalid):
                await shop.app.enqueue_many("send", [*mappings(5), {}], conn=conn, batch_size=2)

    shop.run(scenario)
    assert shop.column("payload ->> 'to'") == ["kept"]
