"""An S3 server on the loopback interface, moto's, that counts what is moved: ``python -m bench.scale.s3 <port>``.

``GET /-moved`` answers with the requests so far and their bytes.
"""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

BUCKET = "bench"
KEY, SECRET, REGION = "bench", "bench-secret", "us-east-1"
SECONDS = 60.0


@dataclass(frozen=True)
class Moved:
    """What an S3 server has answered: requests that read, bytes that they got, and bytes that were written."""

    reads: int
    bytes_read: int
    bytes_written: int

    def __sub__(self, other: Moved) -> Moved:
        return Moved(
            self.reads - other.reads,
            self.bytes_read - other.bytes_read,
            self.bytes_written - other.bytes_written,
        )


@dataclass(frozen=True)
class Store:
    """A running server with an empty bucket."""

    port: int

    @property
    def settings(self) -> dict[str, str]:
        """The environment of every process that reads or writes the bucket."""
        return {
            "CATCHMENT_S3_KEY_ID": KEY,
            "CATCHMENT_S3_SECRET": SECRET,
            "CATCHMENT_S3_REGION": REGION,
            "CATCHMENT_S3_ENDPOINT": f"127.0.0.1:{self.port}",
            "CATCHMENT_S3_URL_STYLE": "path",
            "CATCHMENT_S3_USE_SSL": "false",
        }

    def moved(self) -> Moved:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-moved", timeout=SECONDS) as answer:
            return Moved(**json.load(answer))


@contextmanager
def stored() -> Generator[Store]:
    """A server in a separate process, with a bucket."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "bench.scale.s3", str(port)])
    try:
        _wait(port)
        import boto3

        client = boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{port}",
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name=REGION,
        )
        client.create_bucket(Bucket=BUCKET)
        client.close()
        yield Store(port)
    finally:
        process.kill()
        process.wait()


def _wait(port: int) -> None:
    ends = time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.05)
        else:
            return


class _Counting:
    """A WSGI application that counts for another."""

    def __init__(self, inner: Callable[..., Iterable[bytes]]) -> None:
        self._inner = inner
        self._lock = Lock()
        self._moved = Moved(0, 0, 0)

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/-moved":
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(self._moved.__dict__).encode()]
        is_read = environ["REQUEST_METHOD"] == "GET"
        self._add(is_read, 0, int(environ.get("CONTENT_LENGTH") or 0))
        return self._counted(self._inner(environ, start)) if is_read else self._inner(environ, start)

    def _counted(self, parts: Iterable[bytes]) -> Generator[bytes]:
        for part in parts:
            self._add(False, len(part), 0)
            yield part

    def _add(self, is_read: bool, read: int, written: int) -> None:
        with self._lock:
            now = self._moved
            self._moved = Moved(now.reads + is_read, now.bytes_read + read, now.bytes_written + written)


def main() -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = _Counting(DomainDispatcherApplication(create_backend_app))
    make_server("127.0.0.1", int(sys.argv[1]), app, threaded=True, request_handler=MotoRequestHandler).serve_forever()


if __name__ == "__main__":
    main()
