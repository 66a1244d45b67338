"""The dashboard beside a Django project in one ASGI application, for the users of Django."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from starlette.requests import HTTPConnection

from catchment.contrib.django.application import app
from catchment.contrib.django.handlers import close_stale
from catchment.dashboard.app import asgi_app
from catchment.dashboard.auth.user import Role, User
from catchment.errors import RequestRefused, shown

Scope = dict[str, Any]
Asgi = Callable[[Scope, Any, Any], Awaitable[None]]
RoleOf = Callable[[Any], Role | None]


def role_of(user: Any) -> Role | None:
    """The rule unless another is given: superusers are operators, other staff are viewers."""
    return "operator" if user.is_superuser else "viewer" if user.is_staff else None


def with_dashboard(application: Asgi, *, prefix: str = "/jobs", role: RoleOf = role_of, **options: Any) -> Asgi:
    """An ASGI application: the dashboard below ``prefix``, and everything else as before.

    - ``role``: what an active user of Django may do: ``viewer``, ``operator``, or None for nothing.
    - ``options``: those of ``catchment.dashboard.asgi_app``, such as ``redact``.

    Users are those who are logged in with Django. Others get 401.
    """
    if not prefix.startswith("/") or prefix.endswith("/"):
        raise RequestRefused(f"prefix is {shown(prefix)}, expected one such as /jobs")

    async def authenticate(connection: HTTPConnection) -> User | None:
        key = connection.cookies.get(settings.SESSION_COOKIE_NAME)
        return None if not key else await sync_to_async(_find)(key, role)

    made: list[Asgi] = []

    async def serve(scope: Scope, receive: Any, send: Any) -> None:
        path: str = scope.get("path", "")
        if scope["type"] != "http" or not f"{path}/".startswith(f"{prefix}/"):
            await application(scope, receive, send)
            return
        if not made:
            made.append(asgi_app(app.dsn, authenticate=authenticate, **options))
        inner = {**scope, "root_path": f"{scope.get('root_path', '')}{prefix}"}
        # As Django's own handler: a request has the connections of one thread.
        async with ThreadSensitiveContext():
            await made[0](inner, receive, send)

    return serve


def _find(key: str, role: RoleOf) -> User | None:
    request: Any = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    close_stale()
    try:
        user = get_user(request)
        chosen = role(user) if user.is_authenticated and user.is_active else None
        return None if chosen is None else User(user.get_username(), chosen)
    finally:
        close_stale()
