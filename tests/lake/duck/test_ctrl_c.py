"""Ctrl-C while a DuckDB is being opened."""

from __future__ import annotations

import subprocess
import sys

INTERRUPTED = """
import os, signal, threading
from catchment.lake.duck import extensions

def interrupt():
    while ".duckdb_extension" not in open("/proc/self/maps").read():
        pass
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
threading.Thread(target=interrupt).start()
try:
    extensions.new_instance()
    signal.pause()
except KeyboardInterrupt:
    os._exit(7)
"""


def test_ctrl_c_while_extensions_are_loaded_is_ctrl_c() -> None:
    assert subprocess.run([sys.executable, "-c", INTERRUPTED], timeout=120).returncode == 7
