"""A schema of an application: what is installed, what is refused, and who may install it."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import dict_row

from catchment.errors import CatchmentError, CommandNotRegistered, DefinitionRefused, RequestRefused, SchemaMismatch
from catchment.store.migrate import migrate
from tests.migrations.conftest import Ship, there


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
    with pytest.raises(DefinitionRefused, match=r"release of a Schema is .*, expected a version such as"):
        replace(ship(), release=release)


def test_a_user_who_may_create_roles_installs_into_their_own_database(server: str, empty: str, ship: Ship) -> None:
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


def test_a_migration_that_came_late_is_missed_and_applied(conn: Connection[Any], ship: Ship) -> None:
    first, third = "create table shop.a (i integer);", "create table shop.c (i integer);"
    ship(m0001_a=first, m0003_c=third).migrate(conn)
    merged = ship(m0001_a=first, m0002_b="create table shop.b (i integer);", m0003_c=third)
    with pytest.raises(
        SchemaMismatch, match="schema shop lacks migration 0002_b, which this version of the shop needs"
    ):
        merged.check_version(conn)
    assert merged.migrate(conn).applied == ("0002_b",)
    merged.check_version(conn)


def test_a_migration_whose_text_changed_is_refused(conn: Connection[Any], ship: Ship) -> None:
    ship(m0001_a="create table shop.a (i integer);\n").migrate(conn)
    ship(m0001_other_name="create table shop.a (i integer);\r\n").check_version(conn)
    edited = ship(m0001_a="create table shop.a (i bigint);\n", m0002_b="create table shop.b (i integer);")
    for tried in (edited.check_version, edited.migrate):
        with pytest.raises(SchemaMismatch, match="migration 0001_a of schema shop is not the text"):
            tried(conn)
    assert "b" not in there(conn)


def test_tables_of_another_shape_are_not_upgraded(conn: Connection[Any], ship: Ship) -> None:
    shop = ship(m0001_a="create table shop.a (i integer);")
    shop.migrate(conn)
    conn.execute("alter table shop.migration drop column digest")
    for tried in (shop.check_version, shop.migrate):
        with pytest.raises(SchemaMismatch, match="schema shop was not written by a released version of the shop"):
            tried(conn)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (
            {"m0001_a": "select 1;\ncreat table shop.a (i integer);"},
            r"migration 0001_a of shop_\w+, line 2: syntax error",
        ),
        ({"m0001_a": "create table a (i integer);"}, "migration 0001_a of .*: permission denied for schema pg_catalog"),
        (
            {"functions/one/f": "create function shop.f() returns no_such language sql as 'select 1'"},
            "functions/one/f.sql",
        ),
        ({"m0001_a": "set role none;"}, "migration 0001_a of .* leaves another role or search_path"),
        ({"functions/f": "set search_path = shop;"}, "functions/f.sql of .* leaves another role or search_path"),
        ({"m0001_a": "select set_config('search_path', '', false);"}, "leaves another role or search_path"),
        ({"m0001_a": "create table shop.a (i integer); copy shop.a from stdin;"}, "migration 0001_a of .* has COPY"),
        ({"m0001_a": "create sequence shop.s; select currval('shop.s');"}, "migration 0001_a of .*: currval"),
    ],
)
def test_an_error_in_a_file_names_the_file(empty: str, ship: Ship, files: dict[str, str], says: str) -> None:
    shop = ship(**({"m0001_a": "select 1;"} | files))
    with psycopg.connect(empty, autocommit=True) as conn, pytest.raises(DefinitionRefused, match=says):
        shop.migrate(conn)
    with psycopg.connect(empty, autocommit=True) as conn:
        assert "a" not in there(conn)
        assert conn.execute("select count(*) from pg_locks where locktype = 'advisory'").fetchone() == (0,)


def test_what_a_file_sets_is_set_back(conn: Connection[Any], ship: Ship) -> None:
    shop = ship(
        m0001_a="set lock_timeout = '5s'; set work_mem = '8MB'; set local jit = off;",
        m0002_b="do $$ begin assert current_setting('lock_timeout') = '3s';"
        " assert (select s.setting = s.reset_val from pg_settings as s where s.name = 'work_mem'); end $$;",
    )
    conn.execute("set lock_timeout = '3s'")
    shop.migrate(conn)
    jit = "select current_setting('lock_timeout'), s.setting = s.reset_val from pg_settings as s where s.name = 'jit'"
    assert conn.execute(jit).fetchone() == ("3s", True)


def test_a_user_without_rights_hears_what_is_missing(empty: str, conn: Connection[Any], ship: Ship) -> None:
    shop = ship(m0001_a="create table shop.a (i integer);")
    shop.migrate(conn)
    user = f"guest_{uuid.uuid4().hex[:8]}"
    conn.execute(f"create role {user} login")
    try:
        with (
            psycopg.connect(empty, user=user, autocommit=True) as own,
            pytest.raises(SchemaMismatch, match="this user may not use the shop: permission denied for schema shop"),
        ):
            shop.check_version(own)
    finally:
        conn.execute(f"drop role {user}")


def test_errors_of_others_are_left_as_they_are(ship: Ship) -> None:
    error = ValueError("of another library")
    assert ship(m0001_a="").translate(error) is error


def test_errors_of_the_engine_are_its_own_within_an_application(db: str, ship: Ship) -> None:
    shop = ship(m0001_a="")
    with psycopg.connect(db, autocommit=True) as conn:
        with pytest.raises(CommandNotRegistered, match="no_such") as raised, shop.translated():
            conn.execute("do $$ begin perform worker.enqueue('no_such', '{}'); end $$")
        assert isinstance(raised.value.__cause__, psycopg.DatabaseError)


def test_nothing_is_made_without_the_engine_or_without_files(conn: Connection[Any], ship: Ship) -> None:
    shop = ship(**{"m0001_a": "create table shop.a (i integer);", "commands/c": "select 1;"})
    roles = {"shop_user": ["catchment_enqueue"]}
    for needs in (shop, replace(ship(m0001_a="select 1;"), roles=roles)):
        with pytest.raises(SchemaMismatch, match="the shop needs Catchment, which is not installed") as raised:
            needs.migrate(conn)
        assert raised.value.hint == "Run: catchment migrate"
    for refused in (replace(shop, compatible_from=2), replace(shop, package="no_such_package"), ship()):
        with pytest.raises(DefinitionRefused):
            refused.migrate(conn)
    assert conn.execute("select to_regnamespace('shop')").fetchone() == (None,)
    assert conn.execute("select count(*) from pg_roles where rolname = %s", [shop.owner]).fetchone() == (0,)


class WithoutHint(CatchmentError):
    def __init__(self, message: str) -> None:
        super().__init__(message)


class WithoutMessage(SchemaMismatch):
    def __init__(self, *, hint: str | None) -> None:
        super().__init__("", hint=hint)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": ""}, "name of a Schema is '', expected a name of 1 to 63 bytes"),
        ({"name": 5}, "name of a Schema is 5"),
        ({"name": "ø" * 32}, "name of a Schema is .*, expected a name of 1 to 63 bytes"),
        ({"name": "pg_x"}, "a name that does not begin with pg_"),
        ({"owner": None}, "owner of a Schema is None"),
        ({"owner": "public"}, "owner of a Schema is 'public'"),
        ({"package": None}, "package of a Schema is None"),
        ({"title": " "}, "title of a Schema is ' '"),
        ({"compatible_from": True}, "compatible_from of a Schema is True"),
        ({"compatible_from": 0}, "compatible_from of a Schema is 0"),
        ({"version_table": "migration"}, "version_table of a Schema is 'migration'"),
        ({"roles": ["shop_user"]}, "roles of a Schema is"),
        ({"roles": {"shop_user": "catchment_enqueue"}}, r"roles\['shop_user'\] of a Schema is 'catchment_enqueue'"),
        ({"roles": {"shop_user": [5]}}, "expected a list of names of roles"),
        ({"errors": {"": SchemaMismatch}}, "a key of errors of a Schema is '', expected an SQLSTATE"),
        ({"errors": {"SH003": ValueError}}, r"errors\['SH003'\] of a Schema is .*ValueError"),
        ({"mismatch": ValueError}, "mismatch of a Schema is"),
        ({"errors": {"SH003": WithoutHint}}, r"errors\['SH003'\] of a Schema is .*, expected a class that is made of"),
        (
            {"mismatch": WithoutMessage},
            "mismatch of a Schema is .*, expected a class that is made of a message and hint",
        ),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_at_definition(ship: Ship, change: dict[str, Any], says: str) -> None:
    with pytest.raises(DefinitionRefused, match=says):
        replace(ship(), **change)


def test_what_is_no_connection_is_refused(ship: Ship) -> None:
    shop = ship(m0001_a="select 1;")
    for tried in (shop.check_version, shop.migrate):
        with pytest.raises(RequestRefused, match="conn is of type str, expected a psycopg Connection"):
            tried("postgresql://user:secret@host/db")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["nope", None, "a\0b", "a/b"])
def test_a_query_that_is_not_there_is_named(ship: Ship, name: Any) -> None:
    shop = ship(**{"m0001_a": "select 1;", "queries/stock": "select 2"})
    assert shop.query("stock") == "select 2"
    with pytest.raises(DefinitionRefused, match=r"shop_.* has no file queries/"):
        shop.query(name)


def test_without_roles_a_schema_is_its_owners_and_gets_grants_with_them(
    server: str, empty: str, ship: Ship, owner: str
) -> None:
    """Also on a server that has roles of these names: other databases have made them."""
    files = {
        "m0001_a": "create table shop.a (i integer);",
        "functions/f": "create or replace function shop.f() returns int language sql as 'select 1';",
        "grants": "grant usage on schema shop to shop_clerk; grant execute on function shop.f() to shop_clerk;",
        "commands/c": "insert into worker.queue_registry (queue) values ('shop') on conflict do nothing;",
    }
    shop = replace(ship(**files), roles={"shop_clerk": ["catchment_enqueue"]})
    user = f"{owner}_keeper"
    may_run = "select has_function_privilege(%s, 'shop.f()', 'execute')"
    with psycopg.connect(empty, autocommit=True) as conn:
        conn.execute(f"create role {user} login; create role shop_clerk")
        conn.execute(f"alter database {conn.info.dbname} owner to {user}")
        try:
            with psycopg.connect(empty, user=user, autocommit=True) as own:
                assert migrate(own, roles=False).owner == user
                upgrade = shop.migrate(own)
                assert (upgrade.owner, upgrade.has_roles) == (user, False)
                for other in ("public", "shop_clerk"):
                    assert conn.execute(may_run, [other]).fetchone() == (False,)
                with pytest.raises(SchemaMismatch, match="the shop cannot have roles: Catchment has none"):
                    shop.migrate(own, roles=True)
            migrate(conn, roles=True)
            assert shop.migrate(conn, roles=True).has_roles
            assert conn.execute(may_run, ["shop_clerk"]).fetchone() == (True,)
            assert not shop.migrate(conn).routines_changed
        finally:
            conn.execute("drop schema if exists shop, worker cascade")
            conn.execute(f"alter database {conn.info.dbname} owner to postgres")
            conn.execute(f"drop owned by shop_clerk, {user}; drop role shop_clerk, {user}")
