"""Who installs the schema of an application, on which connection, and who does so at the same moment."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.sql import SQL, Identifier

from catchment.errors import DefinitionRefused, RequestRefused, SchemaMismatch
from catchment.schema import Schema, Upgrade
from tests.fixtures.worker import wait_until
from tests.migrations.conftest import TABLE_A, Ship, there


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
    assert done == [Upgrade(("0001_a",), True, None, shop.owner, True)]


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
            assert shop.migrate(own) == Upgrade(("0002_b",), True, None, shop.owner, True)
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


def test_a_session_that_is_read_only_is_not_taken_for_an_error_of_the_schema(empty: str, ship: Ship) -> None:
    shop = ship(m0001_a=TABLE_A)
    with (
        psycopg.connect(empty, autocommit=True, options="-c default_transaction_read_only=on") as conn,
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
    ):
        shop.migrate(conn)
