"""Logging in with a password, and out."""

from __future__ import annotations

import math
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from catchment.dashboard.auth.cookies import SESSION, cookie_name
from catchment.dashboard.auth.sessions import WHOLE_SECONDS
from catchment.dashboard.endpoints import check_origin, guarded
from catchment.dashboard.errors import Problem
from catchment.dashboard.requests import read_form
from catchment.dashboard.security import cookie, is_https, prefix_of
from catchment.dashboard.site import Site
from catchment.errors import RequestRefused


def login_routes(site: Site) -> list[Route]:
    checker = site.checker

    async def show(request: Request) -> Response:
        _refuse_without_password()
        return _form(request, next=request.query_params.get("next", "/"))

    def _form(request: Request, *, next: str, status: int = 200, problem: str = "", name: str = "") -> Response:
        return site.page(
            request,
            "login.html",
            status=status,
            title="Log in",
            next=_inner(next),
            problem=problem,
            name=name[:200],
        )

    def _refuse_without_password() -> None:
        if not checker.access.passwords:
            raise Problem(404, "this dashboard has no passwords", "Its users are authenticated in another way.")

    async def log_in(request: Request) -> Response:
        _refuse_without_password()
        fields = await read_form(request)
        check_origin(site, request, fields.get("token", ""))
        address = request.client.host if request.client else ""
        seconds = checker.throttle.wait(address)
        if seconds > 0:
            raise Problem(
                429,
                "there were too many attempts to log in",
                f"Try again in {math.ceil(seconds)} s.",
                headers={"Retry-After": str(math.ceil(seconds))},
            )
        name, target = fields.get("name", ""), fields.get("next", "/")
        try:
            user = checker.log_in(name, fields.get("password", ""))
        except RequestRefused:
            problem = "Give your name: 1 to 200 characters, without control characters."
            return _form(request, next=target, status=400, problem=problem)
        if user is None:
            checker.throttle.failed(address)
            return _form(request, next=target, status=403, problem="This password is not right.", name=name)
        answer = RedirectResponse(f"{prefix_of(request.scope)}{_inner(target)}", 303)
        _set(request, answer, checker.sessions.begin(user), round(WHOLE_SECONDS))
        return answer

    async def log_out(request: Request) -> Response:
        fields = await read_form(request)
        check_origin(site, request, fields.get("token", ""))
        checker.sessions.end(request.cookies.get(cookie_name(SESSION, request), ""))
        answer = RedirectResponse(f"{prefix_of(request.scope)}/login", 303)
        _set(request, answer, "", 0)
        return answer

    def _set(request: Request, answer: Response, value: str, seconds: int) -> None:
        is_secure = is_https(request, checker)
        name = cookie_name(SESSION, request)
        answer.headers.append("Set-Cookie", cookie(request.scope, name, value, is_secure=is_secure, seconds=seconds))

    return [
        Route("/login", guarded(site, show), methods=["GET"]),
        Route("/login", guarded(site, log_in), methods=["POST"]),
        Route("/logout", guarded(site, log_out), methods=["POST"]),
    ]


def _inner(target: str) -> str:
    """Where to go after the log-in: a path of this dashboard, never another site."""
    parts = urlsplit(target)
    is_ours = target.startswith("/") and not target.startswith(("//", "/\\")) and not parts.netloc and not parts.scheme
    return target if is_ours and target.isprintable() else "/"
