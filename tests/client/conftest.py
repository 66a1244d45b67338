from __future__ import annotations

from collections.abc import Iterator

import pytest

from catchment.client import result, sync_verbs
from tests.client.support import Shop, open_shop
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect


@pytest.fixture
def shop(db: str, connect: Connect) -> Iterator[Shop]:
    """An app on a database of the test's own."""
    made = open_shop(db, Engine(connect()))
    yield made
    made.app.sync.close()


@pytest.fixture
def last_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the query that runs after a timeout 60 seconds: a busy server may need more than the 0.7 of users."""
    for module in (result, sync_verbs):
        monkeypatch.setattr(module, "LAST_LOOK", 60)
