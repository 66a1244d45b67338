"""Times every page of the dashboard with 1,000,000 finished tasks and 1,000,000 children in one scope, beside 200,000
tasks in lanes, 200 of them halted, 200,000 at limits, 200 schedules and 50 workers.

python -m bench.dashboard [--quick]

For each page: the first answer and the median of the others, what PostgreSQL and this process (the dashboard, and the
client that asks) used of a processor, the pages of the buffers that were looked at, and the size of the answer.
"""

from __future__ import annotations

import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from psycopg import Connection

from bench.engine.harness import bench_server, seconds
from catchment.dashboard import User, asgi_app

CALLS = 10
LIMIT_MS = 300
NAME = "catchment dashboard"
CROWD = Path(__file__).with_name("crowd.sql").read_text(encoding="utf-8")
RUNNING = 200
BATCH = 10_000
LANES = """
create procedure bench.fail(payload jsonb) language plpgsql as $$ begin raise exception 'no route to host'; end; $$;
insert into worker.queue_registry (queue, mode) values ('mail', 'concurrent');
insert into worker.command_registry (command, queue, handler_kind, handler_procedure, limit_key, max_running) values
  ('post', 'mail', 'python', null, null, null), ('call', 'mail', 'python', null, '{customer}', 2),
  ('send', 'mail', 'sql', 'bench.fail', null, null);
select worker.enqueue('send', p_lane => 'halted ' || lane) from generate_series(1, 200) as lane;
call worker.drain('mail');
insert into worker.schedule (name, command, cron) select 'schedule ' || n, 'foreign', '5 3 * * *'
  from generate_series(1, 200) as n;
select worker.run_schedule(name) from worker.schedule cross join generate_series(1, 10) where command = 'foreign';
select worker.register_worker('host ' || n, '{mail}', p_lease => '1 day', p_python_queues => '{mail}',
                              p_python_commands => '{post,call}')
  from generate_series(1, 50) as n;
"""
STAND_IN_LINE = """
select worker.enqueue_many('post', array_agg('{}'::jsonb), p_lanes => array_agg('lane ' || n::bigint * n %% 9973)),
       worker.enqueue_many('call', array_agg(jsonb_build_object('customer', n %% 50)))
  from generate_series(%s::integer, %s) as n
"""


def make_crowd(conn: Connection[Any], count: int) -> int:
    """The id of the scope. Some of its children run."""
    ((scope_id,),) = conn.execute(CROWD, {"children": count, "finished": count}).fetchall()
    conn.execute(
        "update worker.command_registry set handler_kind = 'python', handler_procedure = null where queue = 'bench'"
    )
    conn.execute("select worker.register_worker('bench', '{bench}', p_lease => '1 day', p_python_queues => '{bench}')")
    conn.execute("select worker.claim_tasks((select max(worker_id) from worker.worker), '{bench}', %s)", [RUNNING])
    make_lanes(conn, count // 5)
    conn.execute("vacuum (analyze)")
    return scope_id


def make_lanes(conn: Connection[Any], count: int) -> None:
    """Create ``count`` tasks in lanes and as many at limits; also halted lanes, schedules and workers."""
    for statement in LANES.split(";\n"):
        if statement.strip():
            conn.execute(statement)
    for first in range(0, count, BATCH):
        conn.execute(STAND_IN_LINE, [first, min(first + BATCH, count) - 1])


@contextmanager
def served(dsn: str) -> Iterator[str]:
    """The address of a dashboard in a thread of this process."""
    app = asgi_app(dsn, authenticate=lambda _: User("bench", role="operator"))
    line = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, args=([line],))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{line.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def pages(client: httpx.Client, scope_id: int) -> dict[str, str]:
    """Every page that the document of the API has, and the ways to list."""
    paths = {
        "Now": "/",
        "Tasks": "/tasks",
        **{f"Tasks: {state}": f"/tasks?state={state}" for state in ("pending", "processing", "completed", "failed")},
        "Tasks: by command": "/tasks?command=fan_out",
        "Tasks: text of the error": "/tasks?state=failed&error=absent",
        "Task": f"/tasks/{scope_id + 1}",
        "Task: the parent": f"/tasks/{scope_id}",
        "Scopes": "/scopes",
        "Lanes: oldest": "/lanes?order=oldest",
        "Scope": f"/scopes/{scope_id}",
        **{
            f"Scope: {state}": f"/scopes/{scope_id}?state={state}"
            for state in ("failed", "processing", "pending", "completed")
        },
        "Scope: completed of one command": f"/scopes/{scope_id}?state=completed&command=nothing",
        "Scope: a command that is not there": f"/scopes/{scope_id}?state=completed&command=absent",
        "Scope: in the middle": f"/scopes/{scope_id}?after=completed~{scope_id + 100_000}",
    }
    document = client.get("/api/openapi.json").json()
    known = {path.partition("?")[0] for path in paths.values()}
    for api, operations in document["paths"].items():
        path = api.removeprefix("/api")
        if "get" in operations and "{" not in path and path != "/now" and path not in known:
            paths[operations["get"]["operationId"].capitalize()] = path
    return paths


@dataclass(frozen=True)
class Page:
    """What a page takes, in milliseconds."""

    first: float
    median: float
    postgresql: float
    python: float
    buffers: int
    size: int


def measure(client: httpx.Client, conn: Connection[Any], path: str) -> Page:
    def ask() -> httpx.Response:
        answer = client.get(path)
        assert answer.status_code == 200, f"{path}: {answer.text[:300]}"
        return answer

    first = seconds(ask) * 1e3
    postgresql, python = processor_ms(conn), time.process_time()
    took = [seconds(ask) * 1e3 for _ in range(CALLS)]
    postgresql, python = processor_ms(conn) - postgresql, (time.process_time() - python) * 1e3
    return Page(
        first=first,
        median=statistics.median(took),
        postgresql=postgresql / CALLS,
        python=python / CALLS,
        buffers=buffers(conn, ask),
        size=len(ask().content),
    )


def processor_ms(conn: Connection[Any]) -> float:
    """What the sessions of the dashboard have used of a processor: the same however busy the machine is."""
    rows = conn.execute("select pid from pg_stat_activity where application_name = %s", [NAME]).fetchall()
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for (pid,) in rows) / 1e6


def buffers(conn: Connection[Any], ask: Callable[[], object]) -> int:
    """Pages of tables and indexes that one answer looks at. A session tells its counts at most once a second."""

    def told() -> int:
        time.sleep(1.2)
        ask()
        sql = "select blks_hit + blks_read from pg_stat_database where datname = current_database()"
        ((count,),) = conn.execute(sql).fetchall()
        return count

    before = told()
    return told() - before


def main() -> None:
    count = 20_000 if "--quick" in sys.argv else 1_000_000
    with bench_server() as bench, bench.database() as connect, connect() as conn:
        scope_id = make_crowd(conn, count)
        print(f"{count:,} finished tasks, {count:,} children of one scope\n")
        report_pages(conn, scope_id)


def report_pages(conn: Connection[Any], scope_id: int) -> None:
    print("| page | first ms | median ms | CPU ms, PostgreSQL | CPU ms, Python | buffers | kB |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    late: list[str] = []
    with served(conn.info.dsn) as address, httpx.Client(base_url=address, timeout=60) as client:
        client.get("/").raise_for_status()
        for name, path in pages(client, scope_id).items():
            page = measure(client, conn, path)
            figures = f"{page.first:.0f} | {page.median:.0f} | {page.postgresql:.1f} | {page.python:.1f}"
            print(f"| {name} | {figures} | {page.buffers:,} | {page.size / 1000:.0f} |", flush=True)
            if page.postgresql + page.python > LIMIT_MS:
                late.append(name)
    print(f"\nmore than {LIMIT_MS} ms of a processor: {', '.join(late) or 'none'}")


if __name__ == "__main__":
    main()
