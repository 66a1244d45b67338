"""What holds for every request: who asks, from which page, and what a browser may do with the answer."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Collection
from urllib.parse import quote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from catchment.dashboard.auth.check import Asker, Checker
from catchment.dashboard.auth.cookies import VISIT, cookie_name

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
OPEN_PATHS = ("/login", "/healthz", "/readyz")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


Refusal = Callable[[Request, Exception], Response]
"""The answer to a request that has failed with an error."""


def prefix_of(scope: Scope) -> str:
    """The prefix that the dashboard is mounted under, as an address has it. ASGI has it without percent-encoding."""
    # What browsers leave as it is in a path, but for the sign that ends the path of a cookie.
    return quote(scope.get("root_path", ""), safe="/!$&'()*+,=:@")


def inner_path(scope: Scope) -> str:
    """The path below the prefix that the dashboard is mounted under."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] or "/" if root and (path == root or path.startswith(f"{root}/")) else path


class Security:
    """ASGI middleware: refuses requests for other host names, adds the headers, finds the user.

    ``refusal`` makes the answer where finding the user, or the page, fails.
    """

    def __init__(self, app: ASGIApp, *, checker: Checker, hosts: Collection[str] | None, refusal: Refusal) -> None:
        self._app = app
        self._checker = checker
        self._refusal = refusal
        # Without authentication: a hostile page can give its own host name the address of this server.
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        is_secure = is_https(connection, self._checker)
        visit = connection.cookies.get(cookie_name(VISIT, connection), "")
        is_new = not 20 <= len(visit) <= 100
        state = scope.setdefault("state", {})
        state["visit"] = secrets.token_urlsafe(24) if is_new else visit
        state["is_known_host"] = self._hosts is None or host_name(connection) in self._hosts
        path = inner_path(scope)
        is_file = path.startswith("/static/")
        is_open = is_file or path in OPEN_PATHS
        state["asker"] = None
        has_begun = False

        async def answer(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
                if is_new and not is_file:
                    name = cookie_name(VISIT, connection)
                    headers.append("Set-Cookie", cookie(scope, name, state["visit"], is_secure=is_secure))
            await send(message)

        try:
            if not is_open and state["is_known_host"]:
                # What an open page asks for by itself does not keep a session alive: its user may have left.
                is_use = path != "/events" and "x-catchment-live" not in connection.headers
                state["asker"] = await self._checker.find(connection, is_use=is_use)
            await self._app(scope, receive, answer)
        except Exception as error:
            if has_begun:
                raise
            await self._refusal(Request(scope, receive), error)(scope, receive, answer)


def is_https(connection: HTTPConnection, checker: Checker) -> bool:
    """Does the browser speak TLS, to us or to the proxy that is trusted?"""
    proxy = checker.access.proxy
    if connection.url.scheme == "https":
        return True
    return proxy is not None and proxy.is_from(connection) and connection.headers.get("x-forwarded-proto") == "https"


def cookie(scope: Scope, name: str, value: str, *, is_secure: bool, seconds: int | None = None) -> str:
    """A Set-Cookie header. Other sites cannot make a browser send it, and scripts cannot read it."""
    path = prefix_of(scope) or "/"
    age = "" if seconds is None else f"; Max-Age={seconds}"
    return f"{name}={value}; Path={path}; HttpOnly; SameSite=Strict{'; Secure' if is_secure else ''}{age}"


def host_name(connection: HTTPConnection) -> str:
    """The name in the Host header, without the port; empty if there is none that can be read."""
    try:
        return urlsplit(f"//{connection.headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def is_same_origin(connection: HTTPConnection) -> bool:
    """Was a request sent by a page of ours? Browsers say so themselves; what says nothing is no browser of today."""
    site = connection.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = connection.headers.get("origin")
    # The scheme may have been TLS until the proxy; the host may not differ.
    return origin is not None and origin.lower().partition("://")[2] == connection.headers.get("host", "").lower()


class Tokens:
    """Tokens in forms, which pages of other sites cannot know: made from the visit and the user."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def make(self, visit: str, asker: Asker | None) -> str:
        user = "" if asker is None else f"{asker.by}\0{asker.user.name}"
        return hmac.new(self._secret, f"{visit}\0{user}".encode(), hashlib.sha256).hexdigest()

    def is_valid(self, given: str, visit: str, asker: Asker | None) -> bool:
        return hmac.compare_digest(given.encode(), self.make(visit, asker).encode())
