"""A private server with durable commits, a database per measurement, and the printing of results."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.conninfo import make_conninfo

from catchment.store import embedded
from catchment.store.migrate import migrate

HANDLERS = """
create schema bench;
create procedure bench.nothing(payload jsonb) language plpgsql as $$ begin null; end; $$;
create procedure bench.fan_out(payload jsonb) language plpgsql as $$
begin
  for n in 1 .. (payload ->> 'n')::integer loop
    call worker.spawn('nothing', jsonb_build_object('n', n));
  end loop;
end; $$;
create procedure bench.sibling(payload jsonb) language plpgsql as $$
begin
  call worker.spawn('nothing', '{}', p_parent_id => worker.current_parent_id());
  perform pg_sleep((payload ->> 'seconds')::float);
end; $$;
create procedure bench.fan_out_slow(payload jsonb) language plpgsql as $$
begin
  call worker.spawn('sibling', payload);
  for n in 1 .. (payload ->> 'n')::integer loop
    call worker.spawn('nothing', '{}');
  end loop;
end; $$;
insert into worker.queue_registry (queue, mode) values ('bench', 'concurrent'), ('other', 'concurrent');
insert into worker.command_registry (command, queue, handler_procedure) values
  ('nothing', 'bench', 'bench.nothing'), ('fan_out', 'bench', 'bench.fan_out'),
  ('fan_out_slow', 'bench', 'bench.fan_out_slow'), ('sibling', 'bench', 'bench.sibling'),
  ('foreign', 'other', 'bench.nothing');
"""


class Bench:
    """One server; ``database`` gives a fresh database with the schema and the handlers."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._count = 0
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("create database catchment_bench")
        with self._connect("catchment_bench") as conn:
            migrate(conn)
            conn.execute(HANDLERS)

    def _connect(self, name: str) -> Connection[Any]:
        return psycopg.connect(make_conninfo(self._dsn, dbname=name), autocommit=True)

    @contextmanager
    def database(self) -> Iterator[Callable[[], Connection[Any]]]:
        """A fresh database; the value opens connections to it."""
        self._count += 1
        name = f"bench_{self._count}"
        with psycopg.connect(self._dsn, autocommit=True) as admin:
            admin.execute(f"create database {name} template catchment_bench")
            try:
                yield lambda: self._connect(name)
            finally:
                admin.execute(f"drop database {name} with (force)")


@contextmanager
def bench_server() -> Iterator[Bench]:
    """PostgreSQL 18 with durable commits; only the settings named here differ from stock."""
    with tempfile.TemporaryDirectory(prefix="catchment-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        dsn = embedded.start(Path(folder) / "data")
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("alter system set max_wal_size = '4GB'")
            conn.execute("select pg_reload_conf()")
        try:
            yield Bench(dsn)
        finally:
            embedded.stop(Path(folder) / "data")


def median_of(times: int, measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(times))


def seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def processor_ms(conn: Connection[Any]) -> float:
    """What the server process of this session has used of a processor: the same however busy the machine is."""
    return int(Path(f"/proc/{conn.info.backend_pid}/schedstat").read_text().split()[0]) / 1e6


def report(name: str, value: str, *, bar: str = "") -> None:
    """One line of the result."""
    print(f"{name:<62} {value:>20}  {bar}", flush=True)
