"""The dashboard: what runs, what waits and why, in a browser. ``catchment dashboard`` starts it; ``asgi_app`` is the
same as an ASGI application, to mount in an application of your own::

    from starlette.applications import Starlette
    from starlette.routing import Mount

    from catchment.dashboard import User, asgi_app


    def who(request):
        user = request.session.get("user")
        return User(user, role="operator" if user in ("ada", "bob") else "viewer") if user else None


    app = Starlette(routes=[Mount("/jobs", asgi_app(authenticate=who))])

Pages are rendered on the server and read in one transaction each, with the rights of a database role. It needs
``pip install 'catchment[dashboard]'``.
"""

from typing import TYPE_CHECKING

from catchment.extras import DASHBOARD
from catchment.lazy import lazy_names

if TYPE_CHECKING:
    from catchment.dashboard.app import asgi_app
    from catchment.dashboard.auth.proxy import TrustedProxy
    from catchment.dashboard.auth.user import User
    from catchment.dashboard.database import Reader
    from catchment.dashboard.errors import Problem
    from catchment.dashboard.plugin import Plugin
    from catchment.dashboard.screen import Answer, Query, Screen
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Answer": "screen",
            "Plugin": "plugin",
            "Problem": "errors",
            "Query": "screen",
            "Reader": "database",
            "Screen": "screen",
            "TrustedProxy": "auth.proxy",
            "User": "auth.user",
            "asgi_app": "app",
        },
        DASHBOARD,
    )

__all__ = ["Answer", "Plugin", "Problem", "Query", "Reader", "Screen", "TrustedProxy", "User", "asgi_app"]
