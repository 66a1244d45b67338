"""Files become rows of a table in one commit, or nothing happens and the error names the place."""

from __future__ import annotations

import gzip
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest

from catchment.errors import LakeUnavailable, RequestRefused
from catchment.lake import Lake
from catchment.lake.duck.address import LakeAddress
from catchment.lake.duck.duck import Duck
from catchment.lake.load import load as loading
from catchment.lake.settings import LakeSettings
from tests.fixtures.lake import install_lake
from tests.fixtures.lake_case import SETTINGS, LakeCase, foreign_client
from tests.fixtures.s3 import Bucket
from tests.fixtures.spare import spare
from tests.fixtures.worker import wait_until


def _spoiled(text: bytes) -> bytes:
    """Gzip of a text, and the checksum of another one."""
    packed = bytearray(gzip.compress(text))
    packed[-6] ^= 0xFF
    return bytes(packed)


FILES: dict[str, str | bytes] = {
    "good.csv": "AMOUNT,id\n1.5,1\n2.25,2\n",
    "more.csv": "id,amount\n1e2,\n",
    "rows.json": '[{"id": 5, "amount": 1.5}, {"id": 6, "amount": null}]',
    "lines.ndjson": '{"id": 7, "amount": 1}\n{"id": "x", "amount": 1}\n',
    "word.csv": "id,amount\n1,2\n2,abc\n",
    "many.csv": "id,amount\n1,2\n2,3,4\n",
    "few.csv": "id,amount\n1,2\n2\n3,4\n",
    "quote.csv": 'id,amount\n1,"2\n',
    "cents.csv": "id,amount\n1,1\n3,1.005\n",
    "half.json": '{"id": 5.5, "amount": 1.5}',
    "null.csv": "id,amount\n,1\n",
    "extra.csv": "id,amount,x\n3,1,1\n",
    "lacks.csv": "id\n3\n",
    "twice.csv": "id,ID\n1,2\n",
    "nameless.csv": "id,\n1,2\n",
    "empty.csv": "",
    "latin.csv": "id,name\n1,a\n2,Bjørn\n".encode("latin-1"),
    "wide.csv": "id,name\n1,Bjørn\n".encode("utf-16"),
    "text.parquet": "id,a\n1,2\n",
    "packed.csv": b"\x1f\x8b\x08\x00",
    "broken.json": '{"id": 1, "amount" 2}\n',
    "numbers.json": "[1, 2]",
    "what.dat": "id\n1\n",
    "cut.csv.gz": gzip.compress(b"id,amount\n" + b"1,2\n" * 100)[:-8],
    "cut.json.gz": gzip.compress(b'{"id": 1, "amount": 2}\n' * 100)[:-9],
    "spoiled.csv.gz": _spoiled(b"id,amount\n" + b"1,2\n" * 100),
    "case.json": '{"id": 1, "amount": 2}\n{"ID": 3, "amount": 2}\n',
    "key.json": '{"id": 1, "amount": 2, "": 3}\n',
    "nul.json": '{"id": 1, "a\\u0000b": 3}\n',
    "inner.json": '{"id": {"": 3}}\n',
    "deep.json": '{"id": ' + "[" * 2000 + "]" * 2000 + "}",
    "much.json": '{"id": 1, "amount": 1e400}\n',
    "named.csv": "PAR1,PAR2\n1,2\n",
    "times.csv": "d,t,s,z\n2026-11-18 00:00:00,10:00:00,2026-11-18T09:30:00Z,2026-11-18\n",
}


@pytest.fixture
def lake(lake_case: LakeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lake]:
    lake_case.sql("CREATE TABLE orders (id BIGINT NOT NULL, amount DECIMAL(10,2))")
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    monkeypatch.chdir(tmp_path)
    with Lake(lake_case.dsn, settings=lake_case.settings) as opened:
        yield opened


def nothing_is_left(case: LakeCase) -> None:
    """Every file below the data path is one of the catalog."""
    assert case.pg("select path from lake.artifact") == []
    rows = case.pg(
        "select case when f.path_is_relative then lake.table_directory(f.table_id) || f.path else f.path end"
        " from lake.ducklake_data_file as f"
    )
    on_disk = {str(path) for path in (case.folder / "main").rglob("*") if path.is_file()}
    assert on_disk <= {row[0] for row in rows}
    assert [path for path in case.folder.rglob("load-*") if not any(path.rglob("*.parquet"))] == []


def test_files_of_all_kinds_are_one_commit(lake: Lake, lake_case: LakeCase) -> None:
    before = lake_case.head()
    done = lake.load("good.csv", "mor*.csv", "rows.json", "./good.csv", into="orders")
    assert (done.name, done.created, done.rows, done.deleted, done.snapshot) == ("main.orders", False, 5, 0, before + 1)
    assert [(os.path.basename(file.path), file.rows) for file in done.files] == [
        ("good.csv", 2), ("more.csv", 1), ("rows.json", 2),
    ]  # fmt: skip
    assert done.bytes == sum(len(FILES[name]) for name in ("good.csv", "more.csv", "rows.json"))
    assert done.stored_bytes > 0
    expected = [(1, Decimal("1.50")), (2, Decimal("2.25")), (5, Decimal("1.50")), (6, None), (100, None)]
    assert lake_case.rows("orders") == expected
    lake.create("CREATE DYNAMIC TABLE total TARGET_LAG = '1 hour' AS SELECT count(*) AS n FROM orders")
    replaced = lake.load("good.csv", into="orders", replace=True)
    assert (replaced.rows, replaced.deleted) == (2, 5)
    lake.refresh("total")
    assert lake.read("total").rows() == [(2,)]
    lake_case.check("total")
    nothing_is_left(lake_case)


def test_a_table_that_does_not_exist_is_made_with_the_types_of_all_files(lake: Lake, lake_case: LakeCase) -> None:
    new = lake.load("good.csv", "more.csv", into='"or""ders 2"', types={"amount": "DECIMAL(20,3)"})
    assert (new.created, [(column.name, column.type) for column in new.columns]) == (
        True, [("AMOUNT", "DECIMAL(20,3)"), ("id", "DOUBLE")],
    )  # fmt: skip
    assert len(lake_case.rows('or"ders 2')) == 3
    named = lake.load("lacks.csv", into="named", columns=["a"])
    assert (named.rows, named.columns[0].type) == (2, "VARCHAR")
    assert lake.load("named.csv", into="parameters").rows == 1
    assert lake.load("latin.csv", into="names", encoding="latin-1").rows == 2
    assert lake_case.rows("names")[1] == (2, "Bjørn")
    assert lake.load("wide.csv", into="names", encoding="utf-16").rows == 1
    nothing_is_left(lake_case)


REFUSED: list[tuple[list[str], dict[str, Any], str]] = [
    (["word.csv"], {}, 'word.csv, line 3, column amount: Could not convert string "abc"'),
    (["many.csv"], {}, "many.csv, line 3: 3 values, and there are 2 columns"),
    (["few.csv"], {}, "few.csv, line 3: 1 values, and there are 2 columns"),
    (["quote.csv"], {}, "quote.csv, line 2: "),
    (["cents.csv"], {}, "cents.csv, row 2, column amount: '1.005' does not fit into DECIMAL(10,2)"),
    (["half.json"], {}, "half.json, row 1, column id: '5.5' does not fit into BIGINT"),
    (["lines.ndjson"], {}, "lines.ndjson, row 2, column id: "),
    (["null.csv"], {}, "null.csv: column id has a NULL"),
    (["good.csv", "extra.csv"], {}, "extra.csv does not have the columns of main.orders: it has the column x besides"),
    (["lacks.csv"], {}, "it lacks the column amount"),
    (["good.csv", "lacks.csv"], {"into": "new"}, "lacks.csv does not have the columns of good.csv"),
    (["good.csv", "word.csv"], {"into": "new"}, "column AMOUNT is DOUBLE in good.csv and VARCHAR in word.csv"),
    (["twice.csv"], {}, "columns 1 and 2 have one name, 'id' and 'ID'"),
    (["nameless.csv"], {}, "line 1: column 2 has no name"),
    (["empty.csv"], {}, "empty.csv is empty: it has 0 bytes"),
    (["latin.csv"], {"into": "new"}, "latin.csv, line 3: the text is not in the encoding that was expected"),
    (["wide.csv"], {"into": "new"}, "it is utf-16"),
    (["latin.csv"], {"into": "new", "encoding": "koi8-r"}, "the encoding 'koi8-r' is not known"),
    (["text.parquet"], {}, "text.parquet is not Parquet"),
    (["packed.csv"], {}, "packed.csv is gzip by its content"),
    (["broken.json"], {}, "broken.json, "),
    (["numbers.json"], {}, "numbers.json: "),
    (["cut.csv.gz"], {}, "cut.csv.gz is damaged, or not all of it is there"),
    (["cut.json.gz"], {}, "cut.json.gz is damaged"),
    (["spoiled.csv.gz"], {}, "spoiled.csv.gz is damaged, or not all of it is there: CRC check failed"),
    (["case.json"], {"into": "new"}, "case.json has the keys 'ID' and 'id', which are one column"),
    (["key.json"], {"into": "new"}, "key.json has the key ''"),
    (["nul.json"], {"into": "new"}, "nul.json has the key 'a\\x00b'"),
    (["inner.json"], {"into": "new"}, "inner.json cannot be read"),
    (["deep.json"], {"into": "new"}, "deep.json cannot be read"),
    (["much.json"], {}, "much.json, row 1, column amount: '1e400' does not fit into DECIMAL(10,2)"),
    (["good.csv"], {"into": "new", "types": {"id": "BIGNUM"}}, "no columns of type BIGNUM"),
    (["good.csv"], {"into": "x" * 256}, "has 256 bytes"),
    (["what.dat"], {}, "does not say what it is"),
    (["."], {}, ". is a folder"),
    (["nope.csv"], {}, "there is no file"),
    (["nope*.csv"], {}, "no file matches"),
    (["https://example.org/a.csv"], {}, "is a URL"),
    ([], {}, "no file is named"),
    (["good.csv"], {"into": "total"}, "main.total is a dynamic table, and its rows come from its query"),
    (["good.csv"], {"into": "dt.t1g1"}, "its rows come from its query"),
    (["good.csv"], {"into": "seen"}, "main.seen is a view"),
    (["good.csv"], {"into": "no.orders"}, "the lake has no schema no"),
    (["good.csv"], {"types": {"id": "INTEGER"}}, "already exists with its own column types"),
    (["good.csv"], {"into": "new", "types": {"id": "x) --"}}, "'x) --' is not a type"),
    (["good.csv"], {"into": "new", "types": {"no": "DATE"}}, "there is no column no"),
]


def test_what_does_not_fit_is_refused_with_its_place_and_leaves_nothing(lake: Lake, lake_case: LakeCase) -> None:
    lake.create("CREATE DYNAMIC TABLE total TARGET_LAG = '1 hour' AS SELECT count(*) AS n FROM orders")
    lake_case.sql("CREATE VIEW seen AS SELECT 1 AS a")
    head = lake_case.head()
    for files, options, says in REFUSED:
        with pytest.raises(RequestRefused) as refused:
            lake.load(*files, **{"into": "orders", **options})
        assert says in str(refused.value), files
        assert refused.value.hint, files
    assert lake_case.head() == head
    nothing_is_left(lake_case)


def test_parquet_of_every_type_and_name(lake: Lake, lake_case: LakeCase) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = {
        "i": 1, "d": Decimal("1.25"), "ts": datetime(2026, 1, 1, tzinfo=UTC), "l": [{"a": 1}], "b": b"\0x",
        "t": time(1, 2), "n": "a\0b",
    }  # fmt: skip
    pq.write_table(pa.Table.from_pylist([row, dict.fromkeys(row)]), "year=2026 [1]'s *.parquet")
    for _ in range(2):
        lake.load("year=2026 [1]'s *.parquet", into="odd")
    assert lake.read("odd").rows() == [tuple(row.values()), (None,) * 7] * 2
    pq.write_table(pa.table({"id": pa.array([], pa.int64()), "amount": pa.array([], pa.float64())}), "none.parquet")
    assert lake.load("none.parquet", into="orders").snapshot is None
    assert lake.load("none.parquet", into="new").created
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "A"]), "case.parquet")
    pq.write_table(pa.table({"d": pa.array([1], pa.decimal256(50, 2))}), "huge.parquet")
    for name in ("case", "huge"):
        with pytest.raises(RequestRefused):
            lake.load(f"{name}.parquet", into="other")
    lake_case.sql("CREATE TABLE parts (id HUGEINT, amount VARCHAR)")
    lake_case.sql("ALTER TABLE lake.main.parts SET PARTITIONED BY (amount)")
    assert lake.load("good.csv", into="parts").rows == 2
    assert lake_case.rows("parts") == [(1, "1.5"), (2, "2.25")]
    nothing_is_left(lake_case)


NOT_TIMES = [
    ("d", "2026-11-18 09:30:00"),
    ("d", "2026-11-18 or later"),
    ("t", "2026-11-18 09:30:00"),
    ("t", "10:00:00h"),
    ("t", "10:00:00.1234567"),
    ("s", "2026-11-18 09:30:00.1234567"),
    ("z", "2026-11-18 09:30:00.1234567+00"),
    ("s", "2026-11-18 09:30:00+02"),
    ("z", "31/12/2026"),
    ("z", "soon"),
]


def test_dates_and_times_that_would_be_cut_or_lost_are_refused(lake: Lake, lake_case: LakeCase, tmp_path: Path) -> None:
    lake_case.sql("CREATE TABLE times (d DATE, t TIME, s TIMESTAMP, z TIMESTAMPTZ)")
    for column, value in NOT_TIMES:
        (tmp_path / "not.csv").write_text(
            "d,t,s,z\n" + ",".join(value if name == column else "" for name in "dtsz") + "\n"
        )
        with pytest.raises(RequestRefused, match=f"not.csv, row 1, column {column}: '{re.escape(value)}' does not fit"):
            lake.load("not.csv", into="times")
    lake.load("times.csv", into="times")
    midnight = datetime(2026, 11, 18, tzinfo=UTC)
    assert lake_case.rows("times") == [(midnight.date(), time(10), datetime(2026, 11, 18, 9, 30), midnight)]


_ZONED = "TIMESTAMP WITH TIME ZONE"
KEPT: list[tuple[str, str, str, list[Any]]] = [
    ("a.csv", "x\n01/02/2026\n03/04/2026\n", "VARCHAR", ["01/02/2026", "03/04/2026"]),
    ("b.csv", "x\n99999999999999999998\n1\n", "DECIMAL(38,0)", [Decimal(1), Decimal("99999999999999999998")]),
    ("c.csv", "x\n12345678901234567\n1.5\n", "DECIMAL(38,1)", [Decimal("1.5"), Decimal("12345678901234567.0")]),
    ("d.csv", "x\n12345678901234567\n1e2\n", "VARCHAR", ["12345678901234567", "1e2"]),
    ("e.csv", "x\n1.5\n1e2\n", "DOUBLE", [1.5, 100.0]),
    ("f.json", '{"x": 99999999999999999999}\n', "DECIMAL(38,0)", [Decimal("99999999999999999999")]),
    ("g.json", '{"x": "2026-01-01T00:00:00+02:00"}\n', _ZONED, [datetime(2025, 12, 31, 22, tzinfo=UTC)]),
    ("h.json", '{"x": "2026-01-01T00:00:00"}\n', "TIMESTAMP", [datetime(2026, 1, 1)]),
    ("j.csv", "x\n1e400\n2.5\n", "VARCHAR", ["1e400", "2.5"]),
    ("k.json", '{"x": 1e400}\n{"x": 2.5}\n', "VARCHAR", ["1e400", "2.5"]),
    ("l.csv", "x\n2026-01-01T00:00:00.1234567\n", "VARCHAR", ["2026-01-01T00:00:00.1234567"]),
    ("m.json", '{"x": "2026-01-01T00:00:00.1234567Z"}\n', "VARCHAR", ["2026-01-01T00:00:00.1234567Z"]),
    ("n.csv", "x\n2026-01-01T00:00:00.1234560\n", "TIMESTAMP", [datetime(2026, 1, 1, 0, 0, 0, 123456)]),
    ("o.csv", "x\n12:00:00.1234567\n", "VARCHAR", ["12:00:00.1234567"]),
    ("p.json", '{"x": ["2026-01-01T00:00:00.1234567"]}\n', "VARCHAR[]", [["2026-01-01T00:00:00.1234567"]]),
    ("i.json", '{"x": {"t": "2026-01-01T00:00:00Z"}}\n', "STRUCT(t VARCHAR)", [{"t": "2026-01-01T00:00:00Z"}]),
    (
        "j.json",
        '{"x": {"b": 9007199254740993}}\n{"x": {"b": 1.5}}\n',
        "STRUCT(b VARCHAR)",
        [{"b": "1.5"}, {"b": "9007199254740993"}],
    ),
    ("k.json", '{"x": [1e400, 2.5]}\n', "VARCHAR[]", [["1e400", "2.5"]]),
    (
        "l.json",
        '{"x": {"DOUBLE, ": 0.5, "t": "\\"9007199254740993"}}\n',
        'STRUCT("DOUBLE, " DOUBLE, t VARCHAR)',
        [{"DOUBLE, ": 0.5, "t": '"9007199254740993'}],
    ),
    (
        "m.json",
        '{"x": {"DOUBLE, ": 0.5, "t": 9007199254740993}}\n{"x": {"DOUBLE, ": 1, "t": 0.5}}\n',
        'STRUCT("DOUBLE, " VARCHAR, t VARCHAR)',
        [{"DOUBLE, ": "0.5", "t": "9007199254740993"}, {"DOUBLE, ": "1", "t": "0.5"}],
    ),
]  # fmt: skip


def test_no_value_is_changed_by_the_type_that_is_found_for_it(lake: Lake, tmp_path: Path) -> None:
    for number, (name, text, kind, values) in enumerate(KEPT):
        (tmp_path / name).write_text(text)
        done = lake.load(name, into=f"kept{number}")
        assert (name, done.columns[0].type) == (name, kind)
        assert lake.read(f"SELECT x FROM kept{number} ORDER BY x").rows() == [(value,) for value in values], name
    lake.query("CREATE TABLE given (x DOUBLE)")
    lake.query("CREATE TABLE moments (x TIMESTAMP)")
    for name, table in (("b.csv", "given"), ("f.json", "given"), ("g.json", "moments"), ("a.csv", "moments"),
        ("j.csv", "given"), ("k.json", "given"), ("l.csv", "moments"), ("m.json", "moments"),
    ):  # fmt: skip
        with pytest.raises(RequestRefused, match="does not fit into"):
            lake.load(name, into=table)


def test_the_snapshot_of_a_load_is_that_of_its_own_commit(
    lake: Lake, lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction = Duck.transaction

    @contextmanager
    def then_others_commit(duck: Duck) -> Iterator[None]:
        with transaction(duck):
            yield
        with foreign_client(lake_case) as other:
            other.execute("INSERT INTO theirs.main.orders VALUES (9, 9)")

    monkeypatch.setattr(Duck, "transaction", then_others_commit)
    before = lake_case.head()
    done = lake.load("good.csv", into="orders")
    assert (done.snapshot, lake_case.head()) == (before + 1, before + 2)
    assert lake.read("orders", at=done.snapshot).rows() == [(1, Decimal("1.50")), (2, Decimal("2.25"))]


def test_a_load_whose_lock_is_lost_does_not_commit_files_that_a_sweep_may_have_taken(
    lake: Lake, lake_case: LakeCase
) -> None:
    head = lake_case.head()
    ended = (
        "select pg_terminate_backend(pid, 60000) from pg_stat_activity"
        " where datname = current_database() and application_name = 'catchment load'"
    )
    with pytest.raises(LakeUnavailable, match="has ended") as refused:
        lake.load("good.csv", into="orders", on_progress=lambda _: lake_case.pg(ended))
    assert refused.value.hint == "Nothing was loaded. Do it again."
    assert lake_case.head() == head
    nothing_is_left(lake_case)


def test_a_table_that_is_changed_while_files_are_read_is_refused(lake: Lake, lake_case: LakeCase) -> None:
    with foreign_client(lake_case) as other:

        def alter(_: object) -> None:
            other.execute("ALTER TABLE theirs.orders ADD COLUMN IF NOT EXISTS more INTEGER")

        with pytest.raises(RequestRefused, match="was made, dropped or changed") as refused:
            lake.load("good.csv", into="orders", on_progress=alter)
    assert refused.value.hint == "Nothing was loaded. Do it again."
    nothing_is_left(lake_case)


def test_ctrl_c_after_the_commit_does_not_say_that_nothing_was_loaded(
    lake: Lake, lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = loading._clean  # pyright: ignore[reportPrivateUsage] - the moment after the commit

    def interrupted(*given: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        clean(*given)

    monkeypatch.setattr(loading, "_clean", interrupted)
    before = signal.getsignal(signal.SIGINT)
    assert lake.load("good.csv", into="orders").rows == 2
    assert signal.getsignal(signal.SIGINT) is before
    nothing_is_left(lake_case)


ENDINGS = [signal.SIGINT, signal.SIGKILL]


@pytest.mark.long
@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.name)
def test_a_load_that_is_ended_in_the_middle_leaves_nothing(
    ending: signal.Signals, lake: Lake, lake_case: LakeCase, tmp_path: Path
) -> None:
    big = tmp_path / "big.csv"
    with big.open("w") as file:
        file.write("id,amount\n")
        for start in range(0, 6_000_000, 100_000):
            file.write("".join(f"{n},1.5\n" for n in range(start, start + 100_000)))
    head = lake_case.head()
    with (tmp_path / "out").open("w+") as log:
        process = spare().start(
            *("table", "load", str(big), "--into", "orders"),
            environment={**os.environ, "CATCHMENT_DSN": lake_case.dsn, "CATCHMENT_LAKE_THREADS": "1"},
            out=log.fileno(),
            err=log.fileno(),
        )
        try:
            folder = lake_case.folder / "main" / "orders"
            wait_until(lambda: any(file.stat().st_size for file in folder.rglob("*.parquet")), seconds=200)
            # A sweep while it lives leaves it alone.
            lake.sweep()
            assert any(folder.rglob("*.parquet"))
            process.send_signal(ending)
            process.wait(100)
        finally:
            process.kill()
    assert process.returncode == (130 if ending == signal.SIGINT else -signal.SIGKILL), (tmp_path / "out").read_text()
    assert "Traceback" not in (tmp_path / "out").read_text()
    if ending == signal.SIGKILL:
        wait_until(lambda: not lake_case.pg("select 1 from pg_locks where locktype = 'advisory' and objsubid = 1"))
        lake.sweep()
    nothing_is_left(lake_case)
    assert (lake_case.head(), lake_case.rows("orders")) == (head, [])


@pytest.mark.long
def test_a_million_rows(lake: Lake, lake_case: LakeCase, tmp_path: Path) -> None:
    big = tmp_path / "big.csv"
    big.write_text("id,amount\n" + "".join(f"{n},{n}.5\n" for n in range(1_000_000)))
    seen: list[float | None] = []
    done = lake.load(str(big), into="orders", on_progress=lambda now: seen.append(now.share))
    assert (done.rows, lake.read("SELECT sum(id) FROM orders").rows()) == (1_000_000, [(499_999_500_000,)])
    assert seen
    assert lake.read("orders").polars().height == 1_000_000
    nothing_is_left(lake_case)


@pytest.mark.long
def test_a_lake_in_a_bucket_is_loaded_and_read(db: str, bucket: Bucket, tmp_path: Path) -> None:
    settings = LakeSettings(**SETTINGS, **bucket.settings)
    install_lake(db, LakeAddress(bucket.url), settings)
    file = tmp_path / "good.csv"
    file.write_text("id,amount\n1,2\n2,3\n")
    with Lake(db, settings=settings) as lake:
        assert lake.load(str(file), into="orders").created
        assert lake.load(str(file), into="orders", replace=True).deleted == 2
        assert lake.read("SELECT sum(amount) FROM orders").rows() == [(5,)]
        file.write_text("id,amount\n1,2\n2,x\n")
        with pytest.raises(RequestRefused):
            lake.load(str(file), into="orders")
        with pytest.raises(RequestRefused):
            lake.read("FROM read_csv('s3://bucket/other.csv')").rows()
        assert lake.sweep() == 0
    with psycopg.connect(db) as conn:
        assert conn.execute("select count(*) from lake.artifact").fetchall() == [(0,)]
    assert len(bucket.objects()) == 2
