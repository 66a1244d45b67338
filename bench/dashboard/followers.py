"""Memory of a dashboard that many browsers follow for an hour while tasks run.

python -m bench.dashboard.followers [--minutes 60] [--browsers 20]

Each follower holds the stream of events open and reads its page again at each event, at most once a second, as the
pages do. Now and then one closes its page and opens another. The dashboard runs in a separate process.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from psycopg import Connection

from bench.engine.harness import bench_server

SETUP = """
create procedure public.bench_step(payload jsonb, inout info jsonb) language plpgsql as $$
begin
  if (payload ->> 'n')::integer % 50 = 0 then
    raise exception 'every fiftieth fails';
  end if;
end $$;
insert into worker.command_registry (command, queue, handler_procedure, max_attempts)
values ('step', 'bench', 'public.bench_step', 1);
"""
ENQUEUE = """
select worker.enqueue_many('step', array_agg(jsonb_build_object('n', n))) from generate_series(1, 20) as n
"""


class Counts:
    """What the followers did."""

    events = pages = failed = 0


def run_tasks(connect: Callable[[], Connection[Any]], ended: threading.Event) -> None:
    """Twenty tasks a second."""
    with connect() as conn:
        while not ended.wait(1):
            conn.execute(ENQUEUE)
            conn.execute("call worker.drain('bench')")


@contextmanager
def dashboard(dsn: str) -> Iterator[tuple[str, int]]:
    """Its address and process."""
    command = [sys.executable, "-m", "catchment", "dashboard", "--port", "0", "--dsn", dsn]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        address = next(word for line in process.stdout for word in line.split() if word.startswith("http://"))
        drain = threading.Thread(target=lambda: [None for _ in process.stdout or ()], daemon=True)
        drain.start()
        try:
            yield address.rstrip("/."), process.pid
        finally:
            process.terminate()


async def find_paths(client: httpx.AsyncClient) -> list[str]:
    """Every page of the dashboard without parameters, and two with."""
    document = (await client.get("/api/openapi.json")).raise_for_status().json()
    listed = [path.removeprefix("/api") for path, verbs in document["paths"].items() if "get" in verbs]
    plain = [path for path in listed if "{" not in path and path != "/now"]
    return ["/", "/tasks?state=failed", "/tasks/1", *plain]


async def follow(client: httpx.AsyncClient, paths: list[str], until: float) -> None:
    """One browser."""
    while time.monotonic() < until:
        path = random.choice(paths)
        closes = min(until, time.monotonic() + random.uniform(20, 300))
        try:
            await asyncio.wait_for(follow_page(client, path), closes - time.monotonic())
        except TimeoutError:
            continue
        except httpx.HTTPError:
            Counts.failed += 1


async def follow_page(client: httpx.AsyncClient, path: str) -> None:
    read_at = 0.0
    (await client.get(path)).raise_for_status()
    async with client.stream("GET", "/events") as stream:
        async for line in stream.aiter_lines():
            if line != "event: change":
                continue
            Counts.events += 1
            if time.monotonic() - read_at >= 1:
                read_at = time.monotonic()
                (await client.get(path, headers={"X-Catchment-Live": "1"})).raise_for_status()
                Counts.pages += 1


def memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


async def watch(pid: int, until: float, minutes: float) -> list[float]:
    """The memory at each of twelve moments."""
    figures: list[float] = []
    print("| minute | MB | events | pages read | failed |\n|--:|--:|--:|--:|--:|", flush=True)
    began = time.monotonic()
    while time.monotonic() < until:
        await asyncio.sleep(minutes * 60 / 12)
        figures.append(memory_mb(pid))
        minute = (time.monotonic() - began) / 60
        print(
            f"| {minute:.0f} | {figures[-1]:.1f} | {Counts.events:,} | {Counts.pages:,} | {Counts.failed} |", flush=True
        )
    return figures


async def follow_all(address: str, pid: int, browsers: int, minutes: float) -> list[float]:
    until = time.monotonic() + minutes * 60
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client, asyncio.TaskGroup() as group:
        paths = await find_paths(client)
        for _ in range(browsers):
            group.create_task(follow(client, paths, until))
        watching = group.create_task(watch(pid, until, minutes))
    return watching.result()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--browsers", type=int, default=20)
    given = parser.parse_args()
    ended = threading.Event()
    with bench_server() as bench, bench.database() as connect, connect() as conn:
        conn.execute(SETUP)
        conn.execute("select worker.enqueue('step', '{\"n\": 1}')")
        working = threading.Thread(target=run_tasks, args=(connect, ended))
        working.start()
        try:
            with dashboard(conn.info.dsn) as (address, pid):
                figures = asyncio.run(follow_all(address, pid, given.browsers, given.minutes))
        finally:
            ended.set()
            working.join()
    half = len(figures) // 2
    print(f"\nhighest of the first half: {max(figures[:half]):.1f} MB, of the second: {max(figures[half:]):.1f} MB")


if __name__ == "__main__":
    main()
