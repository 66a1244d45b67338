"""Puts the dashboard together as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from catchment.dashboard.auth.check import Access, Checker
from catchment.dashboard.auth.proxy import TrustedProxy
from catchment.dashboard.auth.user import Authenticate, Role
from catchment.dashboard.database import Database
from catchment.dashboard.endpoints import action_routes, guarded, refusal, screen_routes
from catchment.dashboard.errors import Problem
from catchment.dashboard.events.stream import EventStream
from catchment.dashboard.health import health_routes
from catchment.dashboard.login import login_routes
from catchment.dashboard.openapi import document
from catchment.dashboard.pages import ACTIONS
from catchment.dashboard.plugin import Plugin, find_plugins
from catchment.dashboard.requests import asker_of
from catchment.dashboard.security import Security, prefix_of
from catchment.dashboard.site import Site
from catchment.dashboard.values import Redact, Shown
from catchment.errors import RequestRefused
from catchment.model.check import check_count
from catchment.store.connect import check_dsn

CONNECTIONS = 4
STATEMENT_SECONDS = 10.0


def asgi_app(
    dsn: str | None = None,
    *,
    authenticate: Authenticate | None = None,
    password: str | None = None,
    viewer_password: str | None = None,
    token: str | None = None,
    viewer_token: str | None = None,
    proxy: TrustedProxy | None = None,
    connections: int = CONNECTIONS,
    statement_seconds: float = STATEMENT_SECONDS,
    redact: Redact | None = None,
    hide_values: bool = False,
    trace_url: str | None = None,
) -> Starlette:
    """The dashboard as an ASGI application, to be mounted under any prefix.

    - ``dsn``: the database. Defaults to ``$CATCHMENT_DSN``, or else to the embedded server.
    - ``authenticate``: your own authentication. It is called with each request, may be ``async``, and returns a
      ``User``, or None if nobody is logged in.
    - ``password``, ``viewer_password``: people log in with one of these, as operators or viewers.
    - ``token``, ``viewer_token``: programs send one of these: ``Authorization: Bearer …``.
    - ``proxy``: users that a reverse proxy names in a header, see ``TrustedProxy``.
    - ``connections``: connections to the database at most, besides the one that listens.
    - ``statement_seconds``: time limit of each statement.
    - ``redact``: called with the command, ``payload``, ``result`` or ``info``, and the value; returns what is shown
      instead. If it raises, nothing of the value is shown.
    - ``hide_values``: show no payloads and results at all.
    - ``trace_url``: the address of a trace, with ``{trace_id}`` in it, for tasks that have one.

    Raises ``RequestRefused`` without any of the four ways to authenticate.
    """
    access = Access(
        authenticate=authenticate,
        proxy=proxy,
        tokens=_secrets(token, viewer_token),
        passwords=_secrets(password, viewer_password),
    )
    if not access.is_checked:
        raise RequestRefused(
            "asgi_app is given no authentication",
            hint="Pass authenticate=, password=, token= or proxy=. For a page that everybody may see and nobody may"
            " change: authenticate=lambda request: User('guest').",
        )
    shown = Shown(redact=redact, hides_values=hide_values, trace_url=trace_url)
    return make_app(dsn, access, connections=connections, seconds=statement_seconds, shown=shown)


def _secrets(operator: str | None, viewer: str | None) -> dict[Role, str]:
    given: dict[Role, str | None] = {"operator": operator, "viewer": viewer}
    return {role: secret for role, secret in given.items() if secret is not None}


def make_app(
    dsn: str | None,
    access: Access,
    *,
    hosts: Collection[str] | None = None,
    connections: int = CONNECTIONS,
    seconds: float = STATEMENT_SECONDS,
    shown: Shown | None = None,
    plugins: tuple[Plugin, ...] | None = None,
) -> Starlette:
    """As ``asgi_app``. With ``hosts`` it answers under these names alone. ``plugins``: defaults to those installed."""
    check_dsn(dsn)
    check_count(connections, name="connections")
    database = Database(dsn, connections=connections, seconds=seconds, shown=shown or Shown())
    site = Site(database, Checker(access), find_plugins() if plugins is None else plugins)
    app = Starlette(
        routes=_routes(site),
        middleware=[Middleware(Security, checker=site.checker, hosts=hosts, refusal=partial(refusal, site))],
        lifespan=lambda _: _life(site),
    )
    app.state.site = site
    return app


@asynccontextmanager
async def _life(site: Site) -> AsyncGenerator[None]:
    """For servers that run it: the figures of the last minutes are there before anybody looks."""
    try:
        async with site.hub.held():
            yield
    finally:
        site.hub.close()
        await site.database.close()


def _routes(site: Site) -> list[BaseRoute]:
    async def openapi(request: Request) -> Response:
        asker_of(request)
        async with site.database.reading() as reader:
            await site.plugins.look(reader)
        return JSONResponse(document(prefix_of(request.scope), site.present))

    routes: list[BaseRoute] = [
        *(
            Mount(f"/static/{plugin.name}", _Files(packages=[(plugin.package, "static")]))
            for plugin in site.plugins.all
        ),
        Mount("/static", _Files(packages=[("catchment.dashboard", "static")])),
        *health_routes(site),
        *login_routes(site),
        Route("/events", _Events(site), methods=["GET"]),
        Route("/api/openapi.json", guarded(site, openapi), methods=["GET"]),
        *(route for action in ACTIONS for route in action_routes(site, action)),
    ]
    screens = [route for screen in site.screens for route in screen_routes(site, screen)]
    rest = _Rest(site, [*routes, *screens])
    # /api/bulk/cancel is no /api/bulk/{id}, whatever the method.
    fixed = [Route(f"/api{action.path}", rest) for action in ACTIONS if "{" not in action.path]
    plain = [route for route in screens if not route.param_convertors]
    return [*routes, *plain, *fixed, *screens, Route("/{rest:path}", rest)]


class _Files(StaticFiles):
    """Files of the package. Browsers ask whether they have changed: an upgrade must not meet old scripts."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = "no-cache"
        return response


class _Events:
    """The event stream, for those who are logged in."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._stream = EventStream(site.hub, site.checker)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def check(request: Request) -> Response:
            asker_of(request)
            return Response()

        request = Request(scope, receive)
        answer = await guarded(self._site, check)(request)
        await (self._stream if answer.status_code == 200 else answer)(scope, receive, send)


class _Rest:
    """The answer where there is no page, or none with this method."""

    def __init__(self, site: Site, routes: list[BaseRoute]) -> None:
        self._site = site
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await (await guarded(self._site, self._refuse)(request))(scope, receive, send)

    async def _refuse(self, request: Request) -> Response:
        asker_of(request)
        near = [
            route
            for route in self._routes
            if isinstance(route, Route) and route.matches(request.scope)[0] is Match.PARTIAL
        ]
        exact = [route for route in near if not route.param_convertors]
        methods = {name for route in exact or near for name in route.methods or ()}
        if methods:
            allowed = ", ".join(sorted(methods))
            raise Problem(
                405, f"{request.method} is no method of {request.url.path[:200]}", f"Use {allowed}.", {"Allow": allowed}
            )
        raise Problem(404, f"there is no page {request.url.path[:200]}", "The menu has all pages.")
