"""Tables of one round that want rows of one big source: the process scans it once, and each takes what is its."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from catchment.errors import SourceChanged
from catchment.lake.refresh import compute, feed, reach, window
from catchment.lake.refresh.session import Work
from catchment.lake.refresh.window import Verdict
from catchment.lake.types import Action
from tests.fixtures.lake import LakeStates
from tests.fixtures.lake_case import LakeCase
from tests.lake.refresh.test_shared import finish, newest, request

LAG = "TARGET_LAG = '1 minute' REFRESH_MODE"
QUERIES = {
    "kinds": "SELECT kind, sum(amount) AS amount FROM items GROUP BY kind",
    "regions": "SELECT c.region, sum(i.amount) AS amount FROM items i JOIN orders o ON o.order_id = i.order_id"
    " JOIN customers c ON c.customer_id = o.customer_id WHERE o.status = 1 GROUP BY c.region",
    "sizes": "SELECT p.size, count(*) AS n, sum(i.amount * p.weight) AS amount FROM items i"
    " JOIN parts p ON p.part_id = i.part_id WHERE i.amount > 3 GROUP BY p.size",
    "both": "SELECT o.status, p.weight, count(*) AS n FROM orders o, parts p, items i"
    " WHERE i.order_id = o.order_id AND i.part_id = p.part_id AND p.size < 5 AND i.kind = 1"
    " GROUP BY o.status, p.weight",
}
NAMES = tuple(QUERIES)
CHANGES = (
    "DELETE FROM items WHERE item_id % 700 = 3",
    "UPDATE items SET amount = amount + 1, part_id = part_id + 1 WHERE item_id % 900 = 5",
    "INSERT INTO items SELECT item_id + 100000, order_id, 7, kind, 9 FROM items WHERE item_id % 800 = 1",
    "UPDATE orders SET status = 1 - status WHERE order_id % 999 = 4",
    "DELETE FROM orders WHERE order_id % 1500 = 8",
    "UPDATE customers SET region = 'moved' WHERE customer_id % 200 = 9",
    "UPDATE parts SET weight = weight + 1 WHERE part_id % 100 = 2",
    "DELETE FROM parts WHERE part_id % 150 = 6",
)


def _market(case: LakeCase) -> None:
    tables = {
        "items": "i AS item_id, i % 20500 AS order_id, i % 300 AS part_id, i % 2 AS kind,"
        " (i % 13)::DECIMAL(10,2) AS amount FROM range(24000) AS r(i)",
        "orders": "i AS order_id, i % 500 AS customer_id, i % 2 AS status FROM range(20500) AS r(i)",
        "customers": "i AS customer_id, 'r' || (i % 4) AS region FROM range(500) AS r(i)",
        "parts": "i AS part_id, i % 7 AS size, i % 3 AS weight FROM range(300) AS r(i)",
    }
    for name, query in tables.items():
        case.sql(f"CREATE TABLE {name} AS SELECT {query}")
    for name, query in QUERIES.items():
        case.create(f"CREATE DYNAMIC TABLE {name} {LAG} = INCREMENTAL AS {query}")
    finish(case, request(case, NAMES))


@pytest.fixture
def market(lake_states: LakeStates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LakeCase]:
    """Four tables over the items of orders, filled in one round by a process that still knows their plans."""
    monkeypatch.setattr(reach, "MANY_ROWS", 20_000)
    with lake_states.copy(_market, tmp_path / "lake") as case:
        case.sql("DELETE FROM items WHERE item_id = 23999")
        finish(case, request(case, NAMES))
        yield case


class Statements:
    """What was made by which refresh."""

    def __init__(self) -> None:
        self.scans: list[str] = []
        self.taken: list[tuple[str, str]] = []

    def readers(self, source: str = "items") -> set[str]:
        """The tables that took rows of a source from those that were found."""
        return {name for name, taken in self.taken if taken == source}


@pytest.fixture
def made(market: LakeCase, monkeypatch: pytest.MonkeyPatch) -> Statements:
    noted = Statements()
    make, view = Work.make, Work.view
    named = {f'"reached_{market_id(market, name)}"': name for name in ("items", "orders")}

    def note_scan(work: Work, name: str, sql: str, *rest: Any) -> int:
        if name.endswith(("reach_found", "_beside")):
            noted.scans.append(work.order.definition.ref.name)
        return make(work, name, sql, *rest)

    def note_taken(work: Work, name: str, sql: str) -> None:
        noted.taken += [(work.order.definition.ref.name, table) for found, table in named.items() if found in sql]
        view(work, name, sql)

    monkeypatch.setattr(Work, "make", note_scan)
    monkeypatch.setattr(Work, "view", note_taken)
    return noted


def market_id(case: LakeCase, name: str) -> int:
    ((table_id,),) = case.pg(
        "select table_id from lake.ducklake_table where table_name = %s and end_snapshot is null", name
    )
    return table_id


def change(case: LakeCase, statements: Sequence[str] = CHANGES) -> None:
    for statement in statements:
        case.sql(statement)


def check(case: LakeCase, names: Sequence[str] = NAMES) -> None:
    for name in names:
        case.check(name)
    assert case.temporary() == []


def together(case: LakeCase, names: Sequence[str] = NAMES) -> dict[str, str]:
    """One round of these tables, each compared; returns how each was refreshed."""
    finish(case, request(case, names))
    check(case, names)
    return {name: case.refreshed(newest(case, name))["action"] for name in names}


@pytest.fixture(params=["apart", "with its changes"])
def scan(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the scan finds the deleted rows of the source too."""
    if request.param == "apart":
        monkeypatch.setattr(feed, "MOST", 9)
    return request.param


def test_one_scan_serves_all_tables_of_a_round(market: LakeCase, made: Statements, scan: str) -> None:
    change(market)
    assert set(together(market).values()) == {"incremental"}
    assert made.readers() == {"regions", "sizes", "both"}
    assert made.readers("orders") == {"regions", "both"}
    assert made.scans == (["regions", "regions"] if scan == "apart" else ["kinds", "regions"])


def test_every_round_finds_its_own_rows(market: LakeCase, made: Statements) -> None:
    for statements in (CHANGES[3:], CHANGES[:3], CHANGES[4:6]):
        change(market, statements)
        together(market)


def test_a_table_whose_ways_were_not_followed_scans_for_itself(market: LakeCase, made: Statements, scan: str) -> None:
    """The process does not know the plans when the rows are looked for, so those of changed parts are not there. What
    was found for changed orders is of use to the other table still."""
    for name in ("sizes", "both"):
        del market.duck.remembered["plan", market.find(name)]
    change(market)
    together(market)
    assert made.readers() == (set() if scan == "apart" else {"regions", "both"})


def test_a_table_that_was_refreshed_in_between_scans_for_itself(market: LakeCase, made: Statements) -> None:
    """It wants the changes of another window."""
    change(market, CHANGES[6:])
    market.refresh("sizes")
    made.taken.clear()
    change(market, ["UPDATE parts SET weight = weight + 2, size = 3 WHERE part_id % 40 = 1", *CHANGES[:3]])
    together(market)
    assert len({"sizes", "both"} & made.readers()) == 1


def test_commits_after_the_snapshot_of_the_round_do_not_matter(market: LakeCase, made: Statements) -> None:
    change(market)
    refresh_id = request(market, NAMES)
    later = iter(
        [
            "DELETE FROM items WHERE item_id % 30 = 0",
            "UPDATE parts SET weight = 50",
            "INSERT INTO items SELECT item_id + 200000, order_id, part_id, 1, 99 FROM items WHERE item_id < 5000",
        ]
    )
    market.finish_round(refresh_id, between=lambda _: market.sql(next(later, "SELECT 1")))
    check(market)
    assert made.readers() == {"regions", "sizes", "both"}
    together(market)


def failing_once(plain: Callable[..., Any], name: str) -> Callable[..., Any]:
    left = [1]

    def apply(work: Work, *rest: Any) -> Any:
        if work.order.definition.ref.name == name and left and left.pop():
            raise OSError("the disk is gone")
        return plain(work, *rest)

    return apply


@pytest.mark.parametrize("name", ["regions", "sizes"])
def test_a_refresh_that_fails_leaves_the_rows_for_the_others(
    market: LakeCase, made: Statements, scan: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute, "apply_states", failing_once(compute.apply_states, name))
    change(market)
    refresh_id = request(market, NAMES)
    with pytest.raises(OSError, match="gone"):
        market.finish_round(refresh_id)
    market.finish_round(refresh_id)
    check(market)
    assert made.scans == (["regions", "regions"] if scan == "apart" else ["kinds", "regions"])


def test_rows_that_nobody_comes_for_go_with_the_next_round(market: LakeCase, made: Statements) -> None:
    change(market)
    refresh_id = request(market, NAMES)

    def cancel(name: str) -> None:
        if name == "regions":
            for other in ("sizes", "both"):
                market.control.cancel_refreshes(market.find(other), "nobody wants it")

    market.finish_round(refresh_id, between=cancel)
    assert f"reached_{market_id(market, 'items')}" in market.temporary()
    change(market, CHANGES[:1])
    together(market)


def test_rows_kept_for_a_refresh_that_turns_out_full_go_with_it(
    market: LakeCase, made: Statements, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = window.load

    def broken(work: Work, *rest: Any) -> Any:
        if work.order.definition.ref.name == "both":
            return Verdict(Action.REPAIR, "FEED_MISMATCH", "the test says so")
        return load(work, *rest)

    monkeypatch.setattr(window, "load", broken)
    change(market)
    assert together(market)["both"] == "repair"


def test_many_rows_are_not_kept(market: LakeCase, made: Statements, scan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, counts = Work.count, list[int]()

    def count(work: Work, name: str) -> int:
        counts.append(found := plain(work, name))
        return found + reach.LEAST_KEPT if name.endswith(("reach_found", "_beside")) else found

    monkeypatch.setattr(Work, "count", count)
    change(market)
    together(market)
    assert made.readers() == set()
    assert made.scans == (["regions", "regions"] if scan == "apart" else ["kinds", "regions"])


def test_a_fiftieth_of_a_source_is_kept_within_bounds() -> None:
    assert [reach.most_kept(rows) for rows in (0, 25_000_000, 60_000_000, 10**10)] == [
        500_000,
        500_000,
        1_200_000,
        5_000_000,
    ]


def test_rows_that_will_be_many_are_not_looked_for(
    market: LakeCase, made: Statements, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "most_kept", lambda _: 20)
    change(market)
    together(market)
    assert made.readers() == set()


def test_tables_that_are_refreshed_fully_take_no_part(market: LakeCase, made: Statements) -> None:
    """One that may choose is counted on; if it chooses a full refresh, it leaves nothing behind either."""
    market.create(f"CREATE DYNAMIC TABLE whole {LAG} = FULL AS {QUERIES['both']}")
    market.create(f"CREATE DYNAMIC TABLE chosen {LAG} = AUTO AS {QUERIES['both']}")
    together(market, ["regions", "whole", "chosen"])
    made.taken.clear()
    change(market)
    done = together(market, ["regions", "whole", "chosen"])
    assert (done["regions"], done["whole"]) == ("incremental", "full")
    assert "whole" not in made.readers()


def test_a_table_alone_in_its_round_finds_them_with_its_changes_only(
    market: LakeCase, made: Statements, scan: str
) -> None:
    change(market)
    together(market, ["both"])
    assert made.readers() == (set() if scan == "apart" else {"both"})


def test_a_source_that_is_read_twice_needs_ways_for_both(market: LakeCase, made: Statements, scan: str) -> None:
    """An item is tied to its order by a column, and the item before it to nothing by a column alone."""
    pairs = (
        "SELECT o.status, sum(i.amount - p.amount) AS growth FROM items i JOIN items p ON p.item_id = i.item_id - 1"
        " JOIN orders o ON o.order_id = i.order_id GROUP BY o.status"
    )
    market.create(f"CREATE DYNAMIC TABLE pairs {LAG} = INCREMENTAL AS {pairs}")
    together(market, ["regions", "pairs"])
    made.taken.clear()
    change(market, CHANGES[3:5])
    assert together(market, ["regions", "pairs"])["pairs"] == "incremental"
    assert made.readers() == {"regions"}


def test_a_table_that_fails_does_not_make_others_full(market: LakeCase, made: Statements, scan: str) -> None:
    """The process knows its plan, by a column that is there no more."""
    market.sql("ALTER TABLE items RENAME COLUMN part_id TO part")
    for _ in range(2):
        change(market, ["UPDATE orders SET status = 1 - status WHERE order_id % 999 = 4", CHANGES[6]])
        refresh_id = request(market, NAMES)
        for _ in ("sizes", "both"):
            with suppress(SourceChanged):
                market.finish_round(refresh_id)
        for name in ("kinds", "regions"):
            market.check(name)
    assert market.refreshed(newest(market, "sizes"))["state"] == "FAILED"
    found = market.refreshed(newest(market, "regions"))
    assert (found["action"], found["reason"]) == ("incremental", None)
