"""``catchment dashboard``."""

from __future__ import annotations

import logging
import webbrowser
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from catchment.cli.database import open_database
from catchment.commands.options import Dsn
from catchment.extras import DASHBOARD
from catchment.store.connect import find_dsn

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from catchment.dashboard.auth.check import Access
    from catchment.dashboard.values import Shown


def dashboard(
    host: Annotated[
        str, typer.Option(help="Address to listen on. Users on other machines need to log in.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port to listen on. Defaults to 8240, or the next free port.", show_default=False
        ),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the dashboard in a browser.")] = False,
    root_path: Annotated[
        str, typer.Option(metavar="PREFIX", help="Path prefix of a reverse proxy, such as /jobs.")
    ] = "",
    proxy_header: Annotated[
        str | None, typer.Option(metavar="NAME", help="Header in which a reverse proxy names the user.")
    ] = None,
    proxy_from: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="Address or network of the reverse proxy; can be repeated."),
    ] = None,
    operator: Annotated[
        list[str] | None,
        typer.Option(
            metavar="USER", help="User of the proxy who may change things; * means every user. Can be repeated."
        ),
    ] = None,
    hide_values: Annotated[bool, typer.Option("--hide-values", help="Hide payloads and results.")] = False,
    trace_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Link to a trace, with {trace_id} in it.")
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Serve the dashboard: queues, tasks and problems, live in a browser. Stop with Ctrl-C."""
    DASHBOARD.check()
    from catchment.dashboard.server import address_of, bind, check_host, read_prefix, serve
    from catchment.dashboard.settings import read_access
    from catchment.dashboard.values import Shown

    shown = Shown(hides_values=hide_values, trace_url=trace_url)
    access = read_access(proxy_header, proxy_from or (), operator or ())
    prefix = read_prefix(root_path)
    check_host(host, access)
    where = find_dsn(dsn)
    with open_database(where, "catchment_read"):
        pass
    line = bind(host, port)
    app = local_app(where, host, access, shown)
    address = address_of(line) + prefix
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")

    def ready() -> None:
        typer.echo(f"The dashboard is at {address}  (Ctrl-C stops it)")
        if open_browser:
            webbrowser.open(address)

    serve(app, line, root_path=prefix, on_ready=ready)


def local_app(dsn: str, host: str, access: Access, shown: Shown | None = None) -> Starlette:
    """The dashboard of this database. Unless users are authenticated, each is the one who has started it."""
    from catchment.dashboard.app import make_app
    from catchment.dashboard.server import LOOPBACK_NAMES, local_user

    hosts = None if access.is_checked else LOOPBACK_NAMES | {host}
    return make_app(dsn, replace(access, local=local_user()), hosts=hosts, shown=shown)
