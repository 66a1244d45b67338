"""How long a killed dispatcher's task waits for another dispatcher."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from bench.engine.harness import Bench, median_of, report


def takeover(bench: Bench) -> None:
    def one() -> float:
        with bench.database() as connect, connect() as conn:
            conn.execute("create procedure bench.wait(payload jsonb) language sql as $$ select pg_sleep(60) $$")
            conn.execute(
                "insert into worker.queue_registry (queue) values ('serial');"
                "insert into worker.command_registry (command, queue, handler_procedure)"
                " values ('wait', 'serial', 'bench.wait')"
            )
            dsn = f"{conn.info.dsn} password=''"

            def start() -> subprocess.Popen[bytes]:
                return subprocess.Popen(
                    [sys.executable, "-m", "catchment", "worker", "--queue", "serial", "--log-level", "error"],
                    env=os.environ | {"CATCHMENT_DSN": dsn},
                )

            def attempt() -> int:
                row = conn.execute("select coalesce(max(attempt), 0) from worker.running").fetchone()
                assert row is not None
                return row[0]

            conn.execute("select worker.enqueue('wait')")
            first = start()
            while attempt() != 1:
                time.sleep(0.01)
            second = start()
            while conn.execute("select count(*) from worker.worker").fetchone() != (2,):
                time.sleep(0.01)
            time.sleep(1)
            first.send_signal(signal.SIGKILL)
            killed = time.perf_counter()
            while attempt() != 2:
                time.sleep(0.002)
            took = time.perf_counter() - killed
            for process in (first, second):
                process.kill()
                process.wait()
            return took

    report("a killed dispatcher's task runs again elsewhere after", f"{median_of(3, one):.2f} s", bar="< 2 s")
