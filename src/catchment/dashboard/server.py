"""Serves the dashboard on an address of this machine, until Ctrl-C."""

from __future__ import annotations

import errno
import getpass
import re
import socket
from collections.abc import Callable
from ipaddress import ip_address

import uvicorn
from starlette.applications import Starlette

from catchment.dashboard.auth.check import Access
from catchment.dashboard.auth.user import User
from catchment.dashboard.site import Site
from catchment.errors import RequestRefused, shown

PORT = 8240
PORTS_TRIED = 20
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)*")
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Can only programs of this machine reach it?"""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_host(host: str, access: Access) -> None:
    """Refuse an address that others can reach, unless they are asked who they are."""
    if not access.is_checked and not is_loopback(host):
        raise RequestRefused(
            f"--host is {host}, which other machines can reach, and there is no authentication",
            hint="Set CATCHMENT_DASHBOARD_PASSWORD or CATCHMENT_DASHBOARD_TOKEN, or give --proxy-header and"
            " --proxy-from.",
        )


def read_prefix(root_path: str) -> str:
    """The prefix under which a proxy shows it, without a slash at the end; empty if there is none."""
    prefix = root_path.rstrip("/")
    if (root_path and not _PREFIX.fullmatch(prefix)) or {".", ".."} & {*prefix.split("/")}:
        raise RequestRefused(
            f"--root-path is {shown(root_path)}, expected a path such as /jobs",
            hint="It begins with a slash, and has letters of ASCII, digits and - . _ ~ between slashes.",
        )
    return prefix


def local_user() -> User:
    """The user who started the dashboard, for every request from this machine."""
    try:
        return User(getpass.getuser(), "operator")
    except (KeyError, OSError):  # a container without an entry for the user
        return User("local", "operator")


def bind(host: str, port: int | None, *, is_near: bool = False) -> socket.socket:
    """A listening socket: on the port given, or without one on the first free port from 8240 on.

    ``is_near``: if the port given is taken, on one of the next, and if all of these are, on any.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    first = PORT if port is None else port
    ports = [first] if port is not None and not is_near else [*range(first, min(first + PORTS_TRIED, 65536))]
    if is_near:
        ports.append(0)
    for number in ports:
        line = socket.socket(family)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            line.bind((host, number))
            line.listen(128)
        except OSError as error:
            line.close()
            if error.errno == errno.EADDRINUSE and number != ports[-1]:
                continue
            raise RequestRefused(
                f"the dashboard cannot listen on {host}:{number}: {error.strerror or error}",
                hint="Choose another port, or another address; port 0 takes a free one.",
            ) from error
        return line
    raise AssertionError("a range of ports is never empty")


def address_of(line: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = line.getsockname()[:2]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{name}:{port}"


class _Server(uvicorn.Server):
    """Lets the browsers that follow events go when it stops: it would wait for them."""

    def __init__(self, config: uvicorn.Config, site: Site, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._site = site
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._site.hub.close()
        await super().shutdown(sockets)


def serve(app: Starlette, line: socket.socket, *, root_path: str = "", on_ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM. ``root_path``: see ``read_prefix``."""
    make_server(app, root_path=root_path, on_ready=on_ready).run(sockets=[line])


def make_server(app: Starlette, *, root_path: str = "", on_ready: Callable[[], None] = lambda: None) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        root_path=root_path,
        lifespan="on",
        log_config=None,
        access_log=False,
        # The address of a peer decides whether its header is trusted: it must be the peer's own.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=30,
    )
    return _Server(config, app.state.site, on_ready)
