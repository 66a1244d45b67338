"""A schema of an application, and a database to install it into."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo

from catchment.schema import Schema

Ship = Callable[..., Schema]


@pytest.fixture
def owner(server: str) -> Iterator[str]:
    """The name of a role that goes with the test."""
    name = f"shop_owner_{uuid.uuid4().hex[:8]}"
    yield name
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"drop role if exists {name}")


@pytest.fixture
def empty(server: str, owner: str) -> Iterator[str]:
    """DSN of an empty database. It goes before the role that owns what is in it."""
    name = f"empty_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"create database {name}")
        yield make_conninfo(server, dbname=name)
        conn.execute(f"drop database {name} with (force)")


@pytest.fixture
def conn(empty: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(empty, autocommit=True) as conn:
        yield conn


@pytest.fixture
def ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: str) -> Ship:
    """Makes a schema from its files: functions and commands by their folders, migrations by their names."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(**files: str) -> Schema:
        package = tmp_path / f"shop_{uuid.uuid4().hex[:8]}"
        (package / "migrations").mkdir(parents=True)
        (package / "__init__.py").touch()
        for name, text in files.items():
            path = package / (
                f"{name}.sql" if not name.startswith("m0") else f"migrations/{name.removeprefix('m')}.sql"
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Schema(
            name="shop", package=package.name, owner=owner, release="1.0", title="the shop", command="shop init"
        )

    return make


def there(conn: Connection[Any]) -> set[str]:
    return {row[0] for row in conn.execute("select relname from pg_class where relnamespace = to_regnamespace('shop')")}


TABLE_A = "create table shop.a (i integer);"
