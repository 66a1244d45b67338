"""A fleet of fifty workers that have nothing to do: what it asks of the server, and how soon it picks up a task."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import psycopg
import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.restart import restart
from tests.fixtures.worker import starting_workers, wait_until
from tests.worker.app import step
from tests.worker.crew import Crew
from tests.worker.probe import Records

WORKERS = 50
LEASE = 60
SECONDS = 60
# Sessions that have spoken lately, but for heartbeats and upkeep.
TALKERS = """
select count(*) from pg_stat_activity
 where application_name like 'catchment%%' and application_name not in ('catchment heartbeat', 'catchment upkeep')
   and state_change > clock_timestamp() - interval '15 seconds'
"""
# By the server's own counter; a session adds what it has done when it next speaks, or after ten idle seconds.
TRANSACTIONS = "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()"


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_fifty_idle_workers_send_little_more_than_their_heartbeats(
    own_server: tuple[str, Path], tmp_path: Path
) -> None:
    dsn, data = own_server
    with psycopg.connect(dsn, autocommit=True) as conn:
        for name, value in {"max_connections": "900", "autovacuum": "off"}.items():
            conn.execute(f"alter system set {name} = '{value}'")  # type: ignore[arg-type]
    restart(data, "fast")
    with (
        psycopg.connect(dsn, autocommit=True) as conn,
        starting_workers(dsn, tmp_path) as start,
    ):
        folder = tmp_path / "probe"
        folder.mkdir()
        crew = Crew.on(dsn, Engine(conn), Records(folder), start, tmp_path)
        for _ in range(WORKERS // 10):
            crew.hire(10, lease_seconds=LEASE)
        assert crew.result(crew.enqueue(step, seconds=0)) == 0
        wait_until(lambda: crew.engine.value(TALKERS) == 0, seconds=300)
        sessions = crew.engine.value("select count(*) from pg_stat_activity where application_name ~ '^catchment'")
        before = crew.engine.value(TRANSACTIONS)
        began = time.monotonic()
        while time.monotonic() - began < SECONDS:
            time.sleep(1)  # what is measured is a time without work
        spent = crew.engine.value(TRANSACTIONS) - before
        seconds = time.monotonic() - began
        beats = WORKERS * seconds * 3 / LEASE
        # Two keepers: a round a second, and chores every ten.
        upkeep = 2 * seconds * 1.1 * 1.2
        delays = [_pickup(crew) for _ in range(100)]
        print(
            f"\n{WORKERS} idle workers, {sessions} sessions, lease {LEASE} s: {spent * 60 / seconds:.0f} transactions a"
            f" minute, of them {beats * 60 / seconds:.0f} heartbeats; pickup p50"
            f" {statistics.median(delays) * 1000:.1f} ms, p99 {statistics.quantiles(delays, n=100)[98] * 1000:.1f} ms"
        )
        assert spent < (beats + upkeep) * 1.3 + 60
        crew.engine.check()
        crew.client.sync.close()


def _pickup(crew: Crew) -> float:
    """Seconds from the insert of a task to its start, by the server's clock; the fleet sleeps before."""
    marked = "select count(distinct worker_id) from worker.sleeper where kind = 'p'"
    wait_until(lambda: crew.engine.value(marked) == WORKERS)
    task = crew.enqueue(step, seconds=0)
    crew.result(task)
    return crew.engine.value(
        "select extract(epoch from process_start_at - created_at)::float from worker.tasks where id = %s", task
    )
