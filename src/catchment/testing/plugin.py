"""The plugin for pytest, which pytest finds by an entry point: fixtures whose names begin with ``catchment_``.

Every run of pytest imports this module where Catchment is installed, so it imports nothing but pytest. A fixture
imports what it needs when a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

if TYPE_CHECKING:
    from psycopg import Connection

    from catchment import App
    from catchment.testing import Run

OPTION = "catchment_app"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The app that the fixtures are about."""
    parser.addini(OPTION, "The app of Catchment under test, as MODULE:APP.", default="")


@pytest.fixture(scope="session")
def catchment_dsn() -> Iterator[str]:
    """A database with the schema, on an embedded server of this test run. Override it to use another one."""
    import shutil
    import tempfile

    from catchment.store import embedded
    from catchment.store.connect import connect
    from catchment.store.migrate import migrate

    # Not in pytest's folder, which each run of pytest closes to other users: for root the server runs as one of them.
    folder = Path(tempfile.mkdtemp(prefix="catchment-test-"))
    try:
        dsn = embedded.start(folder / "postgres")
        with connect(dsn) as conn:
            migrate(conn)
        yield dsn
    finally:
        embedded.stop(folder / "postgres")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def catchment_tx(catchment_dsn: str) -> Iterator[Connection[Any]]:
    """A connection in a transaction that is rolled back after the test. It cannot commit: other tests would see it."""
    import psycopg

    class Uncommitted(psycopg.Connection[Any]):
        def commit(self) -> None:
            raise RuntimeError(
                "catchment_tx is rolled back after the test, and cannot be committed:"
                " use catchment_live_app for code that commits"
            )

    conn = Uncommitted.connect(catchment_dsn)
    try:
        yield conn
    finally:
        # Rolls back; code under test may have closed it before.
        conn.close()


@pytest.fixture(scope="session")
def catchment_template(catchment_dsn: str) -> Iterator[str]:
    """The name of a database to make others from: on the same server, with the schema and nothing else."""
    from psycopg.conninfo import make_conninfo

    from catchment.store.connect import connect
    from catchment.store.migrate import migrate

    with _database(catchment_dsn) as name:
        with connect(make_conninfo(catchment_dsn, dbname=name)) as conn:
            migrate(conn)
        yield name


@pytest.fixture
def catchment_db(catchment_dsn: str, catchment_template: str) -> Iterator[str]:
    """The DSN of a database of this test alone, with the schema, for tests that commit. It is dropped in the end."""
    from psycopg.conninfo import make_conninfo

    with _database(catchment_dsn, catchment_template) as name:
        yield make_conninfo(catchment_dsn, dbname=name)


@pytest.fixture
def catchment_app(pytestconfig: pytest.Config, catchment_tx: Connection[Any]) -> Iterator[App]:
    """The app under test. Whatever it does during the test, it does in the transaction of ``catchment_tx``."""
    from catchment.testing import in_transaction

    app = _find_app(pytestconfig)
    with in_transaction(app, catchment_tx):
        yield app


@pytest.fixture
def catchment_live_app(pytestconfig: pytest.Config, catchment_db: str) -> Iterator[App]:
    """The app under test, on ``catchment_db``: it commits, and ``async with catchment_live_app.worker()`` runs a worker
    there."""
    from catchment.testing import in_database

    app = _find_app(pytestconfig)
    with in_database(app, catchment_db):
        yield app


@pytest.fixture
def catchment_inline(pytestconfig: pytest.Config) -> Callable[..., Run]:
    """``run_inline`` for the app under test: ``catchment_inline(bill, articles=["ink"])``. It needs no database."""
    from functools import partial

    from catchment.testing import run_inline

    return partial(run_inline, _find_app(pytestconfig))


@pytest.fixture
def catchment_drain(catchment_app: App, catchment_tx: Connection[Any]) -> Callable[..., dict[str, int]]:
    """``drain`` for the app under test, in the transaction of ``catchment_tx``: ``catchment_drain()``."""
    from functools import partial

    from catchment.testing import drain

    return partial(drain, catchment_app, catchment_tx)


def _find_app(config: pytest.Config) -> App:
    name: str = config.getini(OPTION)
    if not name:
        raise pytest.UsageError(
            f"the fixtures of Catchment do not know the app under test: add {OPTION} = shop.tasks:app to the"
            " configuration of pytest"
        )
    try:
        app = resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise pytest.UsageError(f"{OPTION} is {name!r}, and that is not there: {error}") from error
    from catchment import App

    if not isinstance(app, App):
        raise pytest.UsageError(f"{OPTION} is {name!r}, which is {app!r}, expected a catchment.App")
    return app


@contextmanager
def _database(dsn: str, template: str = "") -> Generator[str]:
    """The name of a new database on the server of a DSN, dropped in the end."""
    import psycopg
    from psycopg.sql import SQL, Identifier

    name = f"catchment_test_{uuid4().hex[:12]}"
    source = SQL("template {}").format(Identifier(template)) if template else SQL("")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(SQL("create database {} {}").format(Identifier(name), source))
    try:
        yield name
    finally:
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(SQL("drop database {} with (force)").format(Identifier(name)))
