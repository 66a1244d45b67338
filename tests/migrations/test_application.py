"""A schema of an application: what is installed, what is refused, and who may install it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from catchment.errors import DefinitionRefused, RequestRefused
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
    """Makes a schema from migrations, by their names."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(**files: str) -> Schema:
        package = tmp_path / f"shop_{uuid.uuid4().hex[:8]}"
        (package / "migrations").mkdir(parents=True)
        (package / "__init__.py").touch()
        for name, text in files.items():
            (package / "migrations" / f"{name.removeprefix('m')}.sql").write_text(text)
        return Schema(
            name="shop", package=package.name, owner=owner, release="1.0", title="the shop", command="shop init"
        )

    return make


def there(conn: Connection[Any]) -> set[str]:
    return {row[0] for row in conn.execute("select relname from pg_class where relnamespace = to_regnamespace('shop')")}


def test_a_schema_without_roles_is_installed(conn: Connection[Any], ship: Ship) -> None:
    shop = ship(m0001_a="create table shop.a (i integer);")
    assert shop.migrate(conn).applied == ("0001_a",)
    assert shop.migrate(conn).applied == ()
    shop.check_version(conn)


@pytest.mark.parametrize("end", ["commit", "rollback", "commit; begin"])
def test_a_migration_that_ends_its_transaction_is_refused_each_time(
    conn: Connection[Any], ship: Ship, end: str
) -> None:
    shop = ship(m0001_a=f"create table if not exists shop.a (i integer); {end};")
    for _ in range(2):
        with pytest.raises(DefinitionRefused, match=r"migration 0001_a of shop_.* ends its transaction"):
            shop.migrate(conn)
        assert conn.execute("select count(*) from shop.migration").fetchone() == (0,)


def test_what_a_version_is_compatible_with_is_written_though_no_function_changed(
    conn: Connection[Any], ship: Ship
) -> None:
    shop = ship(m0001_a="create table shop.a (i integer);", m0002_b="create table shop.b (i integer);")
    shop.migrate(conn)
    replace(shop, compatible_from=2).migrate(conn)
    assert conn.execute("select compatible_from from shop.version").fetchone() == (2,)


def test_rows_may_be_anything_on_the_connection(empty: str, ship: Ship) -> None:
    shop = ship(m0001_a="create table shop.a (i integer);")
    with psycopg.connect(empty, autocommit=True, row_factory=dict_row) as conn:
        assert shop.migrate(conn).applied == ("0001_a",)
        shop.check_version(conn)


def test_a_connection_in_a_transaction_is_refused(conn: Connection[Any], ship: Ship) -> None:
    shop = ship(m0001_a="create table shop.a (i integer);")
    with conn.transaction(), pytest.raises(RequestRefused, match="conn is in a transaction"):
        shop.migrate(conn)
    assert there(conn) == set()


@pytest.mark.parametrize("release", ["", "dev", "v1.1", "release-1.2", "1.0-rc1", "1.0 beta", None, 1.0])
def test_a_release_without_an_order_is_refused(ship: Ship, release: Any) -> None:
    with pytest.raises(DefinitionRefused, match=r"release is .*, expected a version such as"):
        replace(ship(), release=release)


def test_a_user_who_may_make_roles_installs_into_a_database_of_their_own(server: str, empty: str, ship: Ship) -> None:
    shop = ship(m0001_a="create table shop.a (i integer);")
    user = f"installer_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(empty, autocommit=True) as conn:
        conn.execute(f"create role {user} login createrole")
        conn.execute(f"alter database {conn.info.dbname} owner to {user}")
    with psycopg.connect(empty, user=user, autocommit=True) as own:
        assert shop.migrate(own).applied == ("0001_a",)
        shop.check_version(own)
    with psycopg.connect(empty, autocommit=True) as conn:
        conn.execute(f"alter database {conn.info.dbname} owner to postgres")
        conn.execute(f"drop owned by {shop.owner}, {user} cascade")
        conn.execute(f"drop role {user}")
