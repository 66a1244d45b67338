"""What goes wrong says what it was, what was expected and what to do; the table stays as it was."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import duckdb
import pytest

from catchment.errors import LakeInterrupted, LakeOutOfMemory, TableRefused
from catchment.lake.choose.cost import Estimate
from catchment.lake.choose.outcome import Spread
from catchment.lake.choose.parallel import Decision
from catchment.lake.duck.duck import Never
from catchment.lake.refresh.refresh import NO_MEMORY, run
from catchment.lake.refresh.session import Work
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import some_rows
from tests.lake.refresh.test_incremental import TABLE, filled, refreshed


@pytest.mark.parametrize(
    ("query", "code"),
    some_rows(
        [
            ("SELECT * FROM nowhere", "UNKNOWN_TABLE"),
            ("SELECT nothing FROM orders", "UNKNOWN_COLUMN"),
            ("SELEC 1", "PARSE_ERROR"),
            ("SELECT * FROM orders LIMIT 3", "LIMIT_WITHOUT_ORDER"),
            ("SELECT * FROM seen AT (VERSION => 1)", "PARSE_ERROR"),
            ("SELECT order_id AS __b FROM orders", "RESERVED_NAME"),
        ],
        one_in=3,
    ),
)
def test_refused_definition(query: str, code: str, shop: LakeCase) -> None:
    shop.sql("CREATE VIEW seen AS SELECT * FROM orders")
    with pytest.raises(TableRefused) as caught:
        shop.create(f"CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' AS {query}")
    assert caught.value.code == code
    assert str(caught.value)
    assert shop.leftovers() == {}


def test_query_that_fails_on_the_data(shop: LakeCase) -> None:
    filled(shop, f"{TABLE} SELECT order_id, CAST(note AS INTEGER) AS n FROM orders WHERE note = '7'")
    before = shop.rows("dt")
    shop.sql("INSERT INTO orders VALUES (9, 1, 1, '7')")
    refreshed(shop)
    shop.create("CREATE DYNAMIC TABLE bad TARGET_LAG = '1 minute' AS SELECT CAST(note AS INTEGER) AS n FROM orders")
    with pytest.raises(duckdb.ConversionException, match="Could not convert string 'a'"):
        shop.refresh("bad")
    assert shop.temporary() == []
    assert before == []
    found = shop.pg(
        "select r.state, r.error_code from lake.refresh as r join lake.dt as d on d.id = r.dt_id where d.name = 'bad'"
    )
    assert found == [("FAILED", "QUERY")]


class Soon:
    """A reason to stop that is there from the start."""

    def reason(self) -> str | None:
        return "cancelled by a test"


def test_stopped_refresh_leaves_nothing(regions: LakeCase) -> None:
    regions.sql("INSERT INTO orders SELECT i, 42, i, NULL FROM range(100) AS r(i)")
    before, order = regions.rows("dt"), regions.begin(regions.request("dt"))
    with pytest.raises(LakeInterrupted, match="cancelled by a test"):
        run(regions.duck, regions.control, order, regions.settings, Soon(), lambda _e, _k: Decision(False, 1, "test"))
    assert regions.rows("dt") == before
    assert regions.temporary() == []
    regions.carry_out(regions.begin(order.refresh_id))
    regions.check("dt")


def test_refresh_that_does_not_fit_into_memory_is_spread(regions: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """The decision is asked again, with a need that nothing meets; what is known so far is handed over."""
    regions.sql("INSERT INTO orders VALUES (9, 43, 100, NULL)")
    asked: list[tuple[Estimate, int | None]] = []
    make = Work.make

    def small(work: Work, name: str, sql: str, parameters: object = ()) -> int:
        if name == "fresh":
            raise LakeOutOfMemory("the query does not fit into memory")
        return make(work, name, sql, ())

    def decide(estimate: Estimate, keys: int | None) -> Decision:
        asked.append((estimate, keys))
        return Decision(estimate.memory_bytes >= NO_MEMORY, 2, "test")

    order = regions.begin(regions.request("dt"))
    # The feed has parameters, the steps after it have none.
    monkeypatch.setattr(Work, "make", lambda w, n, s, p=(): small(w, n, s) if n == "fresh" else make(w, n, s, p))
    found = run(regions.duck, regions.control, order, regions.settings, Never(), decide)
    assert isinstance(found, tuple)
    work, spread = found
    with work:
        assert (spread.action.value, spread.keys, len(spread.reads)) == ("incremental", 1, 2)
        assert regions.sql("SELECT * FROM akeys_1") == [("r2",)]
    assert [keys for _, keys in asked] == [1, 1]
    assert isinstance(spread, Spread)
    assert regions.temporary() == []


def test_no_memory_and_nobody_to_spread_to(regions: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    regions.sql("INSERT INTO orders VALUES (9, 43, 100, NULL)")
    make = Work.make

    def small(work: Work, name: str, sql: str, parameters: tuple[object, ...] = ()) -> int:
        if name == "fresh":
            raise LakeOutOfMemory("the query does not fit into memory")
        return make(work, name, sql, parameters)

    monkeypatch.setattr(Work, "make", small)
    with pytest.raises(LakeOutOfMemory):
        regions.refresh("dt")
    assert regions.temporary() == []


@pytest.mark.long
def test_steps_that_do_not_fit_into_memory_are_done_without(regions: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole may fit where a step does not; and a table that may choose does not try it again."""
    make = Work.make
    tried: list[str] = []

    def small(work: Work, name: str, sql: str, parameters: tuple[object, ...] = ()) -> int:
        if name == "akeys_1":
            tried.append(name)
            raise LakeOutOfMemory("the query does not fit into memory")
        return make(work, name, sql, parameters)

    monkeypatch.setattr(Work, "make", small)
    for mode, reason in (("incremental", "STEP_TOO_BIG"), ("auto", "COST")):
        regions.pg("update lake.dt set properties = properties || jsonb_build_object('refresh_mode', %s::text)", mode)
        regions.sql("INSERT INTO orders VALUES (20, 43, 100, NULL)")
        refreshed = regions.refresh("dt", lake_small_ms=0)
        assert (refreshed["action"], refreshed["reason"]) == ("full", reason)
        regions.check("dt")
    assert tried == ["akeys_1"]
    assert regions.temporary() == []


def test_full_disk(shop: LakeCase) -> None:
    """A process that may write files of 200 kB at most, which looks like a full disk to the write of a data file."""
    filled(shop, f"{TABLE} SELECT order_id, max(note) AS note FROM orders GROUP BY 1")
    shop.sql("INSERT INTO orders SELECT i, 42, 1, md5(i::VARCHAR) || md5((-i)::VARCHAR) FROM range(10, 20000) AS r(i)")
    order = shop.request("dt")
    before, size = shop.rows("dt"), 200_000
    script = f"""
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        from pathlib import Path
        from tests.fixtures.lake_case import LakeCase
        case = LakeCase({shop.dsn!r}, Path({str(shop.folder)!r}))
        resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
        case._fences = iter([1000])
        try:
            case.carry_out(case.begin({order}))
        except Exception as error:
            print(type(error).__name__, getattr(error, "code", ""), str(error)[:200])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.startswith("LakeDiskFull DISK_FULL there is no space left"), done.stdout + done.stderr
    assert shop.rows("dt") == before
    shop.check("dt")
