from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.client.support import Shop, open_shop
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect


@pytest.fixture
def shop(db: str, connect: Connect) -> Iterator[Shop]:
    """An app on a database of the test's own."""
    made = open_shop(db, Engine(connect()))
    yield made
    made.app.sync.close()
