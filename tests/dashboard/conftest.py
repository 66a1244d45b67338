"""Fixtures that only these tests load: they import a web server."""

from tests.fixtures.dashboard import dashboard

__all__ = ["dashboard"]
