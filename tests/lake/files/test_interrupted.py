"""Whatever ends a commit to the lake, no file stays that nothing knows."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from catchment.errors import LakeError, LakeInterrupted
from catchment.lake.choose.parallel import Decision
from catchment.lake.duck.duck import Duck
from catchment.lake.files.maintain import maintain_table
from catchment.lake.files.sweep import compare, sweep
from catchment.lake.refresh.refresh import run
from catchment.lake.types import Order
from tests.fixtures.lake import LakeStates
from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.lake.control.support import add_table
from tests.lake.control.support import refresh as refresh_by_hand

ROWS = 1_500_000
AT_ONCE = timedelta()


class WhenWritten:
    """A reason to stop as soon as there is a new file in the content of dynamic tables."""

    def __init__(self, case: LakeCase) -> None:
        self._content = case.content
        self._before = self._files()

    def _files(self) -> set[Path]:
        return {path for path in self._content.glob("**/*") if path.is_file()}

    def reason(self) -> str | None:
        return "a file was written" if self._files() - self._before else None


def many(case: LakeCase) -> None:
    """A table whose content takes long enough to write."""
    case.make("source", "k BIGINT, v BIGINT")
    case.sql(f"INSERT INTO source SELECT i, hash(i) % 1000000007 FROM range({ROWS}) AS r(i)")
    case.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' ALLOW_PARALLEL_REFRESH = FALSE"
        " AS SELECT k, max(v) AS a, min(v) AS b, md5(max(v)::VARCHAR) AS c FROM source GROUP BY k"
    )


@pytest.fixture
def filling(lake_states: LakeStates, tmp_path: Path) -> Iterator[LakeCase]:
    """A lake with that table."""
    with lake_states.copy(many, tmp_path / "lake") as case:
        yield case


def interrupted(case: LakeCase) -> Order:
    """A refresh that was stopped in the middle of a data file; its process continues."""
    order = case.begin(case.request("dt"))
    with pytest.raises(LakeInterrupted):
        run(case.duck, case.control, order, case.settings, WhenWritten(case), lambda *_: Decision(False, 1, "test"))
    return order


def unknown(case: LakeCase) -> int:
    return len(case.leftovers().get("files", []))


def swept(case: LakeCase) -> None:
    assert sweep(case.duck, case.control, case.settings) == 0
    assert case.leftovers() == {}


@pytest.mark.long
def test_what_a_cancelled_commit_wrote_is_swept(filling: LakeCase) -> None:
    order = interrupted(filling)
    assert unknown(filling) > 0
    filling.control.fail_refresh(order.refresh_id, order.fence, "CANCELLED", "cancelled on request")
    # Noted in the transaction that ended it, which asked for a sweep too.
    assert filling.pg("select kind, refresh_id from lake.artifact") == [("table", order.refresh_id)]
    asked = "select count(*) from worker.tasks where command = 'lake_sweep' and (payload->>'refresh_id')::bigint = %s"
    assert filling.pg(asked, order.refresh_id) == [(1,)]
    swept(filling)
    filling.sql("DELETE FROM source WHERE k >= 1000")
    assert filling.refresh("dt")["state"] == "SUCCEEDED"
    filling.check("dt")
    assert filling.leftovers() == {}


@pytest.mark.long
def test_an_attempt_that_takes_over_knows_of_the_files_of_the_last_one(filling: LakeCase) -> None:
    order = interrupted(filling)
    filling.carry_out(filling.begin(order.refresh_id))
    assert unknown(filling) > 0
    swept(filling)
    filling.check("dt")


@pytest.mark.long
def test_a_table_with_a_pending_commit_is_left_alone(filling: LakeCase) -> None:
    order = interrupted(filling)
    filling.control.fail_refresh(order.refresh_id, order.fence, "CANCELLED", "cancelled on request")
    second = interrupted(filling)
    left = unknown(filling)
    assert sweep(filling.duck, filling.control, filling.settings) == 1
    assert unknown(filling) == left > 0
    filling.control.fail_refresh(second.refresh_id, second.fence, "CANCELLED", "cancelled on request")
    swept(filling)


@pytest.mark.long
def test_a_full_disk_leaves_nothing(filling: LakeCase) -> None:
    """A process that may write files of 200 kB at most, which looks like a full disk to the write of a data file."""
    refresh_id, size = filling.request("dt"), 200_000
    script = f"""
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        from pathlib import Path
        from tests.fixtures.lake_case import LakeCase
        case = LakeCase({filling.dsn!r}, Path({str(filling.folder)!r}), first_fence=1000)
        order = case.begin({refresh_id})
        resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
        try:
            case.carry_out(order)
        except Exception as error:
            print(getattr(error, "code", error))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.stdout == "DISK_FULL\n", done.stdout + done.stderr
    swept(filling)


def test_a_compaction_that_died_is_swept(lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    lake_case.make("source", "k BIGINT, v BIGINT")
    lake_case.create("CREATE DYNAMIC TABLE d TARGET_LAG = '1 day' AS SELECT k, max(v) AS v FROM source GROUP BY k")
    for k in range(4):
        lake_case.add("source", [(k, k)])
        lake_case.refresh("d")
    lake_case.pg("update lake.lake set compact_files = 1")
    dt_id, run_statement = lake_case.find("d"), Duck.run

    def dying(duck: Duck, sql: str, parameters: tuple[object, ...] = ()) -> None:
        if "rewrite_data_files" in sql:
            (lake_case.content / f"t{dt_id}g1" / "ducklake-half.parquet").write_text("half of a file")
            raise LakeError("the process dies here")
        run_statement(duck, sql, parameters)

    with monkeypatch.context() as patched:
        patched.setattr(Duck, "run", dying)
        with pytest.raises(LakeError, match="dies here"):
            maintain_table(lake_case.duck, lake_case.control, dt_id)
    assert unknown(lake_case) == 1
    swept(lake_case)
    maintain_table(lake_case.duck, lake_case.control, dt_id)
    assert lake_case.leftovers() == {}


def test_files_without_a_note_are_found_by_comparing_the_folder_with_the_catalog(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    refresh_by_hand(lake_case, table, [(1, 1)])
    with foreign_client(lake_case) as client:
        physical = f'theirs.dt."t{table.dt_id}g1"'
        client.execute(f"INSERT INTO {physical} VALUES (2, 2, 0)")
        client.execute(f"DELETE FROM {physical} WHERE k = 1")
    folder = lake_case.content / f"t{table.dt_id}g1"
    old, new = folder / "left.parquet", folder / "__b=0" / "new.parquet"
    for path in (old, new):
        path.write_text("nobody knows this one")
    os.utime(old, (0, 0))
    noted = folder / "noted.parquet"
    noted.write_text("a subtask has written this")
    lake_case.control.note_artifacts(17, 100, 5, "data", [str(noted)])
    assert compare(lake_case.duck, lake_case.control) == [str(old)]
    assert compare(lake_case.duck, lake_case.control, AT_ONCE) == [str(new)]
    assert noted.exists()
    assert lake_case.rows("d") == [(2, 2)]
