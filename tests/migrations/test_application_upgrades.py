"""An application and its schema of another release: what continues, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from psycopg import Connection

from catchment.errors import DefinitionRefused, SchemaMismatch
from tests.migrations.conftest import TABLE_A, Ship


def test_an_upgrade_with_a_migration_gives_rights_and_views_again(conn: Connection[Any], ship: Ship) -> None:
    routines = {
        "views/v": "create or replace view shop.v as select a.i from shop.a;",
        "grants": "grant select on all tables in schema shop to public;",
    }
    ship(m0001_a=TABLE_A, **routines).migrate(conn)
    second = "drop view shop.v; alter table shop.a alter i type bigint; create table shop.b (i integer);"
    shop = ship(m0001_a=TABLE_A, m0002_b=second, **routines)

    def break_off(step: str) -> None:
        if step.startswith("functions"):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        shop.migrate(conn, on_step=break_off)
    with pytest.raises(SchemaMismatch, match="an upgrade of schema shop was not completed") as raised:
        shop.check_version(conn)
    assert raised.value.hint == "Run: shop init"
    assert shop.migrate(conn).routines_changed
    shop.check_version(conn)
    assert conn.execute(
        "select count(*) from information_schema.role_table_grants as g where g.grantee = 'PUBLIC'"
        " and g.table_schema = 'shop' and g.table_name in ('b', 'v')"
    ).fetchone() == (2,)
    assert not shop.migrate(conn).routines_changed


def test_functions_of_an_older_release_do_not_fit(conn: Connection[Any], ship: Ship) -> None:
    function = "create or replace function shop.f() returns integer language sql as 'select {}';"
    old = ship(**{"m0001_a": TABLE_A, "functions/f": function.format(1)})
    old.migrate(conn)
    new = replace(ship(**{"m0001_a": TABLE_A, "functions/f": function.format(2)}), release="1.1")
    with pytest.raises(
        SchemaMismatch, match=r"written by version 1\.0, are not those of this version of the shop, 1\.1"
    ):
        new.check_version(conn)
    replace(old, release="1.1").check_version(conn)  # the functions are the same
    with pytest.raises(SchemaMismatch, match="are not those of this version"):
        replace(new, release="1.0").check_version(conn)
    new.migrate(conn)
    new.check_version(conn)
    old.check_version(conn)


def test_an_upgrade_that_breaks_off_stops_old_code_from_its_migration_on(conn: Connection[Any], ship: Ship) -> None:
    old = ship(m0001_a=TABLE_A)
    old.migrate(conn)
    files = {"m0001_a": TABLE_A, "m0002_b": "create table shop.b (i integer);", "functions/f": "no sql"}
    with pytest.raises(DefinitionRefused):
        replace(ship(**files), release="1.2").migrate(conn)
    old.check_version(conn)
    conn.execute("drop table shop.b; delete from shop.migration where number = 2")
    new = replace(ship(**files), release="1.2", compatible_from=2)
    with pytest.raises(DefinitionRefused):
        new.migrate(conn)
    with pytest.raises(SchemaMismatch, match="works with migration 2 and newer"):
        old.check_version(conn)
    with pytest.raises(SchemaMismatch, match="an upgrade of schema shop was not completed"):
        new.check_version(conn)


def test_code_that_is_too_old_to_upgrade_a_schema_is_not_sent_to_the_upgrade(conn: Connection[Any], ship: Ship) -> None:
    replace(ship(m0001_a=TABLE_A, m0003_c="select 3;"), release="2.0").migrate(conn)
    backported = replace(ship(m0001_a=TABLE_A, m0002_b="select 2;"), release="0.9")
    for tried in (backported.check_version, backported.migrate):
        with pytest.raises(SchemaMismatch, match="lacks migration 0002_b") as raised:
            tried(conn)
        assert raised.value.hint == "Upgrade the shop on this machine."
