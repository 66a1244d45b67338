"""How a client comes to the server of a folder: it finds one that answers, or starts the keeper, which starts one."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

from catchment.store import folder_locks, postmaster
from catchment.store.data_directory import Programs
from catchment.store.folder_locks import KEEP
from catchment.store.keeper import READY
from catchment.store.postmaster import Server

# A busy machine needs long for it, and so does recovery after a crash.
START_LIMIT = timedelta(seconds=60)
PAUSE = timedelta(milliseconds=50)

_KEEPER = "catchment.store.keeper"


def reach(where: Path, programs: Programs) -> Server:
    """The server of this folder, as soon as it answers; it is started if it does not run, and has a keeper if it is
    one of ours. Under the lock ``START``."""
    deadline = time.monotonic() + START_LIMIT.total_seconds()
    while True:
        server = postmaster.read(where)
        if server is not None and server.answers():
            if postmaster.is_ours(where):
                _start_keeper(where, programs)
            return server
        if time.monotonic() > deadline:
            raise TimeoutError(f"it is not ready after {START_LIMIT.total_seconds():.0f} s")
        if server is None or not server.is_changing:
            _start_keeper(where, programs)
        time.sleep(PAUSE.total_seconds())


def _start_keeper(where: Path, programs: Programs) -> None:
    """Start a keeper and wait until its server is ready, unless there is a keeper. Raises what it reports."""
    lock = folder_locks.open_lock(where, KEEP)
    try:
        if not folder_locks.try_alone(lock):
            return
        output, reports = os.pipe()
        try:
            try:
                subprocess.run(  # noqa: S603 - this Python, without a shell
                    [sys.executable, "-P", "-W", "ignore", "-m", _KEEPER, str(where), str(programs.folder), str(lock)],
                    cwd="/",
                    env=os.environ | {"PYTHONPATH": _import_path()},
                    stdin=subprocess.DEVNULL,
                    stdout=reports,
                    stderr=reports,
                    pass_fds=(lock,),
                    start_new_session=True,
                    check=True,
                )
            finally:
                os.close(reports)
            said = _read_report(output)
        finally:
            os.close(output)
    finally:
        os.close(lock)
    if said.splitlines()[-1:] != [READY]:
        raise RuntimeError(said or "its keeper ended without a message")


def _import_path() -> str:
    """Where Python finds this package and what the keeper imports, also if this process has changed its path."""
    specs = (find_spec(name) for name in ("catchment", "psutil"))
    folders = [str(Path(spec.origin).parents[1]) for spec in specs if spec is not None and spec.origin is not None]
    return os.pathsep.join(dict.fromkeys([*folders, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]))


def _read_report(output: int) -> str:
    """What the keeper says; nothing if it ends without a word. One that takes long counts as ready."""
    ends = time.monotonic() + START_LIMIT.total_seconds()
    poll = select.poll()
    poll.register(output, select.POLLIN)
    said = b""
    while poll.poll(max(0.0, ends - time.monotonic()) * 1000):
        part = os.read(output, 4096)
        if not part:
            return said.decode(errors="replace").strip()
        said += part
    return READY
