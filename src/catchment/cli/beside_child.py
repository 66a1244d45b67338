"""The process of a dashboard beside another command: see ``catchment.cli.beside``."""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import threading
from contextlib import suppress
from typing import TextIO

from catchment.cli.beside import Order
from catchment.cli.dashboard import local_app
from catchment.cli.failure import show_failure
from catchment.store.connect import find_dsn

HOST = "127.0.0.1"


def _end_with(stream: TextIO) -> None:
    with suppress(OSError):
        stream.read()
    os._exit(0)


def main() -> int:
    """Serve until the parent is gone; returns the exit code."""
    line = socket.socket(fileno=int(sys.argv[1]))
    stream = line.makefile("r", encoding="utf-8")
    order: Order = json.loads(stream.readline())
    threading.Thread(target=_end_with, args=[stream], daemon=True).start()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.CRITICAL)
    try:
        from catchment.dashboard.server import address_of, bind, serve
        from catchment.dashboard.settings import read_access

        app = local_app(find_dsn(order["dsn"]), HOST, read_access(None, (), ()))
        door = bind(HOST, order["port"], is_near=True)
        serve(app, door, on_ready=lambda: line.sendall(address_of(door).encode() + b"\n"))
    except Exception as error:
        code = show_failure(error)
        if code is None:
            raise
        return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
