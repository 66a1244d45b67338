"""What all endpoints of one dashboard share."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from psycopg.conninfo import conninfo_to_dict
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from catchment.dashboard.auth.check import Asker, Checker
from catchment.dashboard.database import Database
from catchment.dashboard.errors import TITLES, Problem
from catchment.dashboard.events.hub import Hub
from catchment.dashboard.notes import Notes
from catchment.dashboard.pages import ACTIONS, SCREENS
from catchment.dashboard.plugin import Plugin, Plugins
from catchment.dashboard.recent import Recent
from catchment.dashboard.render import Renderer
from catchment.dashboard.screen import AnyScreen
from catchment.dashboard.security import Tokens, inner_path, prefix_of
from catchment.model.release import VERSION

THEME_COOKIE = "catchment_theme"


class Site:
    """One dashboard: its database, its users, its screens, its templates and its event hub."""

    def __init__(self, database: Database, checker: Checker, plugins: tuple[Plugin, ...] = ()) -> None:
        self.database = database
        self.checker = checker
        self.plugins = Plugins(plugins)
        self.screens: tuple[AnyScreen, ...] = (*SCREENS, *self.plugins.screens)
        self.hub = Hub(database, channels=tuple(channel for plugin in plugins for channel in plugin.channels))
        self.renderer = Renderer(plugins)
        self.tokens = Tokens()
        self.notes = Notes()
        self.recent = Recent()
        self.hub.on_change = self.recent.forget
        self.actions = {action.name: action for action in ACTIONS}
        self._title: str | None = None

    @property
    def present(self) -> tuple[AnyScreen, ...]:
        """The screens that this database has something for."""
        return tuple(screen for screen in self.screens if self.plugins.is_present(screen))

    @property
    def rail(self) -> tuple[AnyScreen, ...]:
        return tuple(screen for screen in self.present if screen.label is not None)

    async def title(self) -> str:
        """The name of the database."""
        if self._title is None:
            parts = conninfo_to_dict(await self.database.dsn())
            self._title = str(parts.get("dbname") or parts.get("user") or "postgres")
        return self._title

    def frame(self, request: Request, *, section: str | None = None) -> dict[str, Any]:
        """What ``frame.html`` needs."""
        asker: Asker | None = request.state.asker
        theme = request.cookies.get(THEME_COOKIE, "")
        return {
            "root": prefix_of(request.scope),
            "path": inner_path(request.scope),
            "path_parameters": request.path_params,
            "section": section,
            "rail": self.rail if asker is not None else (),
            "user": None if asker is None else asker.user,
            "may_log_out": asker is not None and asker.by == "session",
            "token": self.tokens.make(request.state.visit, asker),
            "theme": theme if theme in ("light", "dark") else "auto",
            "database": self._title or "",
            "version": VERSION,
            "lost_since": self.hub.lost_since,
            "now": datetime.now(UTC),
            "most": 10_000,
            "actions": self.actions,
            "errors": {},
            "given": {},
            "note": "" if is_following(request) else self.notes.take(request.state.visit),
        }

    def page(
        self,
        request: Request,
        template: str,
        *,
        status: int = 200,
        section: str | None = None,
        headers: Mapping[str, str] | None = None,
        **values: Any,
    ) -> Response:
        text = self.renderer.page(template, self.frame(request, section=section), **values)
        return HTMLResponse(text, status, headers=dict(headers or {}))

    def refuse(self, request: Request, problem: Problem) -> Response:
        """A page or JSON that says what is the matter."""
        title = TITLES.get(problem.status, "This did not work")
        if is_api(request):
            body = {"error": {"title": title, "message": problem.message, "hint": problem.hint}}
            return JSONResponse(body, problem.status, headers=problem.headers)
        return self.page(
            request,
            "error.html",
            status=problem.status,
            headers=problem.headers,
            title=title,
            message=problem.message,
            hint=problem.hint,
            code=problem.status,
        )


def is_following(request: Request) -> bool:
    """Does a page that is open already ask for what is new?"""
    return "x-catchment-live" in request.headers


def is_api(request: Request) -> bool:
    path = inner_path(request.scope)
    return path.startswith("/api") or path in ("/events", "/metrics")
