"""A schema of an application: what is installed, what is refused, and who may install it."""

from __future__ import annotations

import threading
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
from psycopg.sql import SQL, Identifier

from catchment.errors import DefinitionRefused, RequestRefused, SchemaMismatch
from catchment.schema import Schema, Upgrade
from tests.fixtures.worker import wait_until

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


TABLE_A = "create table shop.a (i integer);"


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


def test_several_applications_install_into_one_database_at_once(server: str, empty: str, ship: Ship) -> None:
    count, rounds = 6, 3
    failures: list[BaseException] = []
    shops = [
        replace(ship(m0001_a=f"create table shop{n}.a (i integer);"), name=f"shop{n}", owner=f"{ship().owner}_{n}")
        for n in range(count * rounds)
    ]
    try:
        for start in range(0, len(shops), count):
            barrier = threading.Barrier(count)

            def install(shop: Schema, barrier: threading.Barrier = barrier) -> None:
                try:
                    with psycopg.connect(empty, autocommit=True) as conn:
                        barrier.wait(60)
                        shop.migrate(conn)
                except BaseException as error:
                    failures.append(error)

            threads = [threading.Thread(target=install, args=[shop]) for shop in shops[start : start + count]]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert failures == []
    finally:
        with psycopg.connect(empty, autocommit=True) as conn:
            for shop in shops:
                conn.execute(f"drop owned by {shop.owner} cascade; drop role {shop.owner}")


def test_a_step_that_another_session_gets_in_the_way_of_is_done_again(
    empty: str, conn: Connection[Any], ship: Ship
) -> None:
    """Two sessions write one row of a catalog: it is an error for the second when the first commits."""
    shop = ship(m0001_a=TABLE_A)
    done: list[Upgrade | Exception] = []

    def install(own: Connection[Any]) -> None:
        try:
            done.append(shop.migrate(own))
        except Exception as error:
            done.append(error)

    waits = "select count(*) from pg_locks where pid = %s and not granted"
    with psycopg.connect(empty, autocommit=True) as own, psycopg.connect(empty) as other:
        other.execute(f"revoke temporary on database {other.info.dbname} from public")
        thread = threading.Thread(target=install, args=[own])
        thread.start()
        wait_until(lambda: conn.execute(waits, [own.info.backend_pid]).fetchone() == (1,))
        other.commit()
        thread.join()
    assert done == [Upgrade(("0001_a",), True)]


def test_a_user_whom_another_users_engine_keeps_out_hears_what_is_missing(db: str, ship: Ship, owner: str) -> None:
    """Here the user may make roles, but may not even see the schema of the engine."""
    shop = ship(**{"m0001_a": TABLE_A, "commands/c": "select 1;"})
    user = f"{owner}_user"
    with psycopg.connect(db, autocommit=True) as conn:
        conn.execute(f"create role {user} login createrole")
        conn.execute(f"grant create, temporary on database {conn.info.dbname} to {user} with grant option")
        try:
            with (
                psycopg.connect(db, user=user, autocommit=True) as own,
                pytest.raises(SchemaMismatch, match="this user may not install the shop: ") as raised,
            ):
                shop.migrate(own)
            assert "WITH ADMIN OPTION" in str(raised.value.hint)
        finally:
            conn.execute("drop schema if exists shop cascade")
            conn.execute(f"drop owned by {owner}, {user} cascade; drop role {user}")


def test_a_member_of_the_owner_who_inherits_nothing_upgrades(empty: str, conn: Connection[Any], ship: Ship) -> None:
    ship(m0001_a=TABLE_A).migrate(conn)
    shop = ship(m0001_a=TABLE_A, m0002_b="create table shop.b (i integer);")
    user = f"{shop.owner}_user"
    conn.execute(f"create role {user} login noinherit; grant {shop.owner} to {user}")
    try:
        with psycopg.connect(empty, user=user, autocommit=True) as own:
            assert shop.migrate(own) == Upgrade(("0002_b",), True)
    finally:
        conn.execute(f"drop role {user}")


def test_what_a_file_does_to_role_and_settings_is_undone(empty: str, ship: Ship) -> None:
    shop = ship(
        **{
            "m0001_a": f"set role {ship().owner}; set lock_timeout = '9s';",
            "m0002_b": "reset statement_timeout; reset lock_timeout;",
            "functions/f": f"set session authorization {ship().owner};",
        }
    )
    with psycopg.connect(empty, autocommit=True, options="-c work_mem=7MB") as conn:
        conn.execute("set statement_timeout = '77s'; set lock_timeout = '3s'")
        before = conn.execute(SESSION).fetchone()
        shop.migrate(conn)
        assert conn.execute(SESSION).fetchone() == before


SESSION = """
select session_user, current_user, current_setting('role'), current_setting('statement_timeout'),
       current_setting('lock_timeout'), current_setting('work_mem')
"""


@pytest.mark.parametrize(
    "options",
    [
        {"prepare_threshold": 0},
        {"cursor_factory": psycopg.RawCursor},
        {"cursor_factory": psycopg.ClientCursor},
        {"client_encoding": "latin1"},
        {"options": "-c standard_conforming_strings=off"},
    ],
)
def test_a_connection_may_have_any_cursors(empty: str, ship: Ship, options: dict[str, Any]) -> None:
    routines = {"functions/f": "select 1; select 2;", "grants": "select '%s';"}
    shop = ship(m0001_a="create table shop.a (i integer); create table shop.b (i integer);", **routines)
    with psycopg.connect(empty, autocommit=True, **options) as conn:
        assert shop.migrate(conn).applied == ("0001_a",)
        shop.check_version(conn)


def test_a_connection_that_cannot_be_used_is_refused(empty: str, ship: Ship) -> None:
    shop = ship(m0001_a=TABLE_A)
    with psycopg.connect(empty, autocommit=True, client_encoding="sql_ascii") as conn:
        for tried in (shop.check_version, shop.migrate):
            with pytest.raises(RequestRefused, match="client_encoding of conn is SQL_ASCII, expected UTF8"):
                tried(conn)
    for tried in (shop.check_version, shop.migrate):
        with pytest.raises(RequestRefused, match="conn is closed, expected one that is open"):
            tried(conn)
    with (
        psycopg.connect(empty, autocommit=True) as conn,
        conn.pipeline(),
        pytest.raises(RequestRefused, match="conn is in pipeline mode"),
    ):
        shop.migrate(conn)
    with psycopg.connect(empty, autocommit=True) as conn:
        assert there(conn) == set()


@pytest.mark.parametrize("name", ["50%off", "a%sb", "a$$b", "$body$", 'a"b', "a'b", "{x}", "a\\b"])
def test_a_name_may_have_any_sign(empty: str, ship: Ship, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    role = f"{ship().owner}{name}"
    shop = replace(
        ship(m0001_a=f"create table {quoted}.a (i integer);"),
        name=name,
        owner=role,
        version_table=f"version{name}",
        roles={f"{role}_user": [role]},
    )
    with psycopg.connect(empty, autocommit=True) as conn:
        try:
            assert shop.migrate(conn).applied == ("0001_a",)
            assert not shop.migrate(conn).routines_changed
            shop.check_version(conn)
        finally:
            for drop in ("drop owned by {} cascade", "drop role {}"):
                conn.execute(SQL(drop).format(SQL(", ").join([Identifier(role), Identifier(f"{role}_user")])))


@pytest.mark.parametrize(
    ("roles", "says"),
    [
        ({"{owner}": ["no_such_role"]}, 'role "no_such_role" does not exist'),
        ({"{owner}": ["{owner}_b"], "{owner}_b": ["{owner}"]}, "is a member of role"),
    ],
)
def test_roles_that_cannot_be_made_are_named(
    conn: Connection[Any], ship: Ship, owner: str, roles: dict[str, list[str]], says: str
) -> None:
    given = {
        role.format(owner=owner): [group.format(owner=owner) for group in groups] for role, groups in roles.items()
    }
    with pytest.raises(DefinitionRefused, match=f"the roles of the shop cannot be made: .*{says}"):
        replace(ship(m0001_a=TABLE_A), roles=given).migrate(conn)
