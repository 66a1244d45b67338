"""Fixtures that only these tests load: they import a web server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from catchment.dashboard.auth.check import Access
from tests.fixtures.browser import chromium, page, tab
from tests.fixtures.dashboard import VIEWER, DashboardSite, StartDashboard, serving
from tests.fixtures.register_driver import RegisterDatabase

__all__ = ["chromium", "page", "tab"]


@pytest.fixture
def start_site(reg_db: RegisterDatabase) -> Iterator[StartDashboard]:
    """Starts dashboards on the database of ``reg_db``, or another one; their user is the viewer eve."""
    with ExitStack() as stack:

        def start(dsn: str = reg_db.dsn, **options: Any) -> DashboardSite:
            address = stack.enter_context(serving(dsn, Access(local=VIEWER), **options))
            return DashboardSite(address, stack.enter_context(httpx.Client(timeout=60)))

        yield start
