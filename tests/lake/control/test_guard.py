"""The guard: a commit to the lake and the move of the frontier are one, and only the newest attempt can make them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import psycopg
import pytest

from catchment.errors import CommitConflict, PublishVetoed
from catchment.lake.duck.duck import Duck
from catchment.lake.names import lake_name
from catchment.lake.types import Order
from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.fixtures.worker import wait_until
from tests.lake.control.support import (
    add_table,
    begin,
    commit,
    content,
    frontier,
    publication,
    publish,
    refresh,
    start,
    state,
    write,
)

BLOCKED = "select a.pid from pg_stat_activity as a where %s = any (pg_blocking_pids(a.pid))"
IS_IDLE = "select 1 from pg_stat_activity as a where a.pid = %s and a.state = 'idle in transaction'"


@pytest.fixture
def foreign(lake_case: LakeCase) -> Iterator[duckdb.DuckDBPyConnection]:
    """Another client of the same lake, that knows nothing of us."""
    with foreign_client(lake_case) as theirs:
        yield theirs


def test_a_commit_moves_the_frontier_to_what_was_read(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 10)])
    table = add_table(lake_case, "d", ["s"])
    assert frontier(lake_case, table)["data_snapshot"] is None

    read_at = lake_case.head()
    order = begin(lake_case, start(lake_case, table))
    assert (order.forced, order.data_snapshot, order.commit_snapshot) == ("FIRST_FILL", read_at, None)
    lake_case.add("s", [(2, 20)])  # comes too late for this refresh
    committed = publish(lake_case, order, [(1, 10)])

    found = frontier(lake_case, table)
    assert (found["data_snapshot"], found["commit_snapshot"], found["rows"]) == (read_at, committed, 1)
    assert state(lake_case, order.refresh_id) == "PUBLISHED"
    assert content(lake_case, "d") == [(1, 10)]
    assert lake_case.pg("select snapshot from lake.read where dt_id = %s", table.dt_id) == [(read_at,)]
    assert lake_case.pg("select data_from, data_to, commit_snapshot from lake.version") == [
        (read_at, read_at, committed)
    ]


def test_the_note_in_the_catalog_holds_ids_and_nothing_else(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "concurrent unique conflict")
    order = refresh(lake_case, table, [(1, 1)])
    notes = [json.loads(note)["catchment"] for _, note in lake_case.notes()]
    assert notes == [
        {"create": table.dt_id, "generation": 1},
        {"refresh": order.refresh_id, "fence": order.fence},
    ]
    assert lake_case.pg(
        "select distinct author, commit_message from public.ducklake_snapshot_changes"
        " where author is not null order by 2"
    ) == [
        ("catchment", f"create {table.dt_id}"),
        ("catchment", f"refresh {order.refresh_id}"),
    ]


@pytest.mark.parametrize("retries", [0, 60])
def test_an_attempt_with_an_old_fence_is_refused_and_nothing_of_it_remains(lake_case: LakeCase, retries: int) -> None:
    table = add_table(lake_case, "d")
    refresh_id = start(lake_case, table)
    old = begin(lake_case, refresh_id)
    lake_case.control.prepare_publish(refresh_id, old.fence, publication(lake_case, old, 1))
    new = begin(lake_case, refresh_id)
    before = lake_case.head()
    lake_case.duck.set_retries(retries)
    with pytest.raises(PublishVetoed, match=f"refresh {refresh_id} is not being published under fence {old.fence}"):
        write(lake_case, old, [(1, 1)])

    assert lake_case.head() == before
    assert content(lake_case, "d") == []
    # It could have left files, so there is a note.
    assert list(lake_case.leftovers()) == ["artifacts"]
    assert publish(lake_case, new, [(2, 2)]) == before + 1
    assert content(lake_case, "d") == [(2, 2)]


@pytest.mark.parametrize("retries", [0, 60])
def test_an_attempt_that_is_overtaken_inside_its_transaction_is_refused(lake_case: LakeCase, retries: int) -> None:
    """The catalog's transaction sees our tables as they were at its start; the new fence shows when it commits."""
    table = add_table(lake_case, "d")
    refresh_id = start(lake_case, table)
    old = begin(lake_case, refresh_id)
    lake_case.control.prepare_publish(refresh_id, old.fence, publication(lake_case, old, 1))
    before = lake_case.head()
    lake_case.duck.set_retries(retries)
    # Without a second try it cannot be told from a lost race; the redo is told the truth.
    expected = PublishVetoed if retries else CommitConflict
    taken: list[Order] = []
    with pytest.raises(expected):
        write(lake_case, old, [(1, 1)], during=lambda: taken.append(begin(lake_case, refresh_id)))
    with pytest.raises(PublishVetoed):
        write(lake_case, old, [(1, 1)])

    assert lake_case.head() == before
    assert state(lake_case, refresh_id) == "EXECUTING"
    publish(lake_case, taken[0], [(2, 2)])
    assert content(lake_case, "d") == [(2, 2)]


def test_a_refresh_that_started_from_an_older_frontier_is_refused(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    first, second = start(lake_case, table), start(lake_case, table)
    slow, quick = begin(lake_case, first), begin(lake_case, second)
    lake_case.control.prepare_publish(first, slow.fence, publication(lake_case, slow, 1))
    publish(lake_case, quick, [(2, 2)])
    with pytest.raises(PublishVetoed, match=f"started from epoch {slow.epoch} of table {table.dt_id}"):
        write(lake_case, slow, [(1, 1)])
    assert content(lake_case, "d") == [(2, 2)]
    assert frontier(lake_case, table)["epoch"] == slow.epoch + 1


def test_a_replaced_table_refuses_what_was_computed_for_the_old_one(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    order = begin(lake_case, start(lake_case, table))
    lake_case.control.prepare_publish(order.refresh_id, order.fence, publication(lake_case, order, 1))
    add_table(lake_case, "d", old=order.physical, or_replace=True)
    # The old content is gone, so the attempt would not get this far; were it so, it would still be refused.
    with pytest.raises(PublishVetoed, match="which has moved on"):
        commit(lake_case, "CREATE TABLE other (a INTEGER)", refresh=order.refresh_id, fence=order.fence)
    assert lake_case.pg("select count(*) from lake.version") == [(0,)]


def test_a_refresh_without_prepared_publication_is_refused(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    order = begin(lake_case, start(lake_case, table))
    with pytest.raises(PublishVetoed):
        write(lake_case, order, [(1, 1)])
    assert content(lake_case, "d") == []


def test_the_same_refresh_is_published_once(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    order = begin(lake_case, start(lake_case, table))
    publish(lake_case, order, [(1, 1)])
    with pytest.raises(PublishVetoed):
        write(lake_case, order, [(1, 1)])
    assert content(lake_case, "d") == [(1, 1)]
    assert frontier(lake_case, table)["epoch"] == order.epoch + 1


@pytest.mark.long
def test_tries_that_lost_a_race_leave_one_move_of_the_frontier(
    lake_case: LakeCase, foreign: duckdb.DuckDBPyConnection
) -> None:
    lake_case.make("other", "a INTEGER")
    table = add_table(lake_case, "d")
    order = begin(lake_case, start(lake_case, table))
    lake_case.control.prepare_publish(order.refresh_id, order.fence, publication(lake_case, order, 1))
    lake_case.duck.set_retries(60)

    def overtake() -> None:  # the snapshot that our commit was about to take is taken
        for _ in range(3):
            foreign.execute("INSERT INTO theirs.main.other VALUES (1)")

    write(lake_case, order, [(1, 1)], during=overtake)
    found = frontier(lake_case, table)
    assert (found["epoch"], found["commit_snapshot"]) == (order.epoch + 1, lake_case.head())
    assert lake_case.pg("select count(*) from lake.version") == [(1,)]


def test_commits_of_others_pass_untouched(lake_case: LakeCase, foreign: duckdb.DuckDBPyConnection) -> None:
    table = add_table(lake_case, "d")
    refresh(lake_case, table, [(1, 1)])
    before = (frontier(lake_case, table), lake_case.pg("select * from lake.refresh"))
    foreign.execute("CREATE TABLE theirs.main.t (a INTEGER)")
    foreign.execute("INSERT INTO theirs.main.t SELECT i FROM range(100) t(i)")
    foreign.execute("BEGIN")
    foreign.execute("DELETE FROM theirs.main.t WHERE a < 50")
    foreign.execute("""CALL theirs.set_commit_message('me', 'mine', extra_info => '{"catchment": 7, "x": 1}')""")
    foreign.execute("COMMIT")
    foreign.execute("BEGIN")
    foreign.execute("DELETE FROM theirs.main.t WHERE a < 60")
    foreign.execute("""CALL theirs.set_commit_message('me', 'mine', extra_info => 'no JSON, but "catchment"')""")
    foreign.execute("COMMIT")
    assert foreign.execute("SELECT count(*) FROM theirs.main.t").fetchone() == (40,)
    assert foreign.execute("SELECT * FROM theirs.main.d").fetchall() == [(1, 1)]
    assert (frontier(lake_case, table), lake_case.pg("select * from lake.refresh")) == before


ZOMBIE = """
import sys
from catchment.lake.control.control import Control
from catchment.lake.duck.duck import Duck
from catchment.lake.settings import LakeSettings

dsn, refresh_id, fence, physical, mark = sys.argv[1:]
duck = Duck.open(dsn, LakeSettings(lake_memory_limit="200MB", lake_threads=1))
duck.set_retries(60)
try:
    with duck.transaction():
        duck.run(f'INSERT INTO {physical} VALUES (1, 1, 0)')
        if refresh_id != "0":
            duck.sign("refresh", refresh=int(refresh_id), fence=int(fence))
        open(mark, "w").close()
        sys.stdin.readline()
except Exception as error:
    print(type(error).__name__)
else:
    print("committed")
"""


@contextmanager
def _zombie(case: LakeCase, folder: Path, name: str, order: Order | None = None) -> Generator[subprocess.Popen[str]]:
    """A process that writes a row and commits on a line of input: what it is to publish, or something of its own."""
    mark, ids = folder / "mark", (order.refresh_id, order.fence) if order else (0, 0)
    arguments = [case.dsn, *map(str, ids), name, str(mark)]
    process = subprocess.Popen(
        [sys.executable, "-c", ZOMBIE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        wait_until(mark.exists, seconds=60)
        yield process
    finally:
        process.kill()
        process.communicate()


def _prepared(case: LakeCase, refresh_id: int) -> Order:
    order = begin(case, refresh_id)
    case.control.prepare_publish(refresh_id, order.fence, publication(case, order, 1))
    return order


def test_a_writer_that_was_stopped_in_its_transaction_cannot_publish_when_it_wakes(
    lake_case: LakeCase, tmp_path: Path
) -> None:
    table = add_table(lake_case, "d")
    refresh_id = start(lake_case, table)
    order = _prepared(lake_case, refresh_id)
    with _zombie(lake_case, tmp_path, lake_name(order.physical), order) as zombie:
        os.kill(zombie.pid, signal.SIGSTOP)
        successor = begin(lake_case, refresh_id)
        publish(lake_case, successor, [(2, 2)])
        lake_case.control.finish_refresh(refresh_id, successor.fence, {})
        os.kill(zombie.pid, signal.SIGCONT)
        output, _ = zombie.communicate("go\n", timeout=60)
    assert output.strip() == "PublishVetoed"
    assert content(lake_case, "d") == [(2, 2)]
    assert [json.loads(note)["catchment"] for _, note in lake_case.notes()][1:] == [
        {"refresh": refresh_id, "fence": successor.fence}
    ]


@pytest.mark.parametrize(
    "is_ours",
    [pytest.param(True, id="a refresh"), pytest.param(False, id="something else", marks=pytest.mark.long)],
)
def test_a_writer_that_was_stopped_just_before_its_commit_holds_up_others_for_seconds(
    lake_case: LakeCase, tmp_path: Path, *, is_ours: bool
) -> None:
    """All but the COMMIT has reached the server."""
    table = add_table(lake_case, "d")
    lake_case.make("s", "a BIGINT, b BIGINT, c BIGINT")
    refresh_id = start(lake_case, table)
    order = _prepared(lake_case, refresh_id)
    name = lake_name(order.physical) if is_ours else "lake.main.s"
    with (
        _zombie(lake_case, tmp_path, name, order if is_ours else None) as zombie,
        psycopg.connect(lake_case.dsn) as holder,
    ):
        assert zombie.stdin is not None
        holder.execute("lock table public.ducklake_snapshot_changes in share mode")
        zombie.stdin.write("go\n")
        zombie.stdin.flush()
        wait_until(lambda: lake_case.pg(BLOCKED, holder.info.backend_pid))
        ((session,),) = lake_case.pg(BLOCKED, holder.info.backend_pid)
        os.kill(zombie.pid, signal.SIGSTOP)
        holder.rollback()
        wait_until(lambda: lake_case.pg(IS_IDLE, session))
        publish(lake_case, begin(lake_case, refresh_id), [(2, 2)])
        os.kill(zombie.pid, signal.SIGCONT)
        output, _ = zombie.communicate(timeout=60)
    assert output.strip() == "LakeUnavailable"
    assert content(lake_case, "d") == [(2, 2)]
    assert lake_case.sql("SELECT * FROM lake.main.s") == []


def test_a_refusal_leaves_the_session_usable(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    order = begin(lake_case, start(lake_case, table))
    for _ in range(3):
        with pytest.raises(PublishVetoed):
            write(lake_case, order, [(1, 1)])
    assert Duck.open(lake_case.dsn, lake_case.settings) is lake_case.duck
    assert not lake_case.duck.is_broken
    publish(lake_case, order, [(1, 1)])
    assert content(lake_case, "d") == [(1, 1)]
