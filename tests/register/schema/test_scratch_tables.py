"""Functions that run with the rights of the owner use no temporary table that somebody else made in their session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import Connection

from tests.fixtures.channels import MAKES, all_functions, touched
from tests.fixtures.often import often
from tests.fixtures.register_driver import RegisterDatabase
from tests.fixtures.sql_files import Function

MAKERS = [f for f in all_functions() if MAKES.search(f.body)]
# With all others that the same function makes, and alone.
TOGETHER = [MAKES.findall(f.body) for f in MAKERS]
ALONE = [[t] for tables in TOGETHER for t in tables]
PLANTED = pytest.mark.parametrize("planted", often(TOGETHER, now_and_then=[ALONE]), ids=["together", "alone"])
CALL = re.compile(r"\b(worker|lake|register)\.(\w+)\(")
USED = re.compile(r"\bpg_temp\.\w+")
EVIL = """
create function pg_temp.evil() returns trigger language plpgsql
as $$ begin raise warning 'evil runs as %', current_user; return null; end $$
"""


def _shape(table: str) -> str:
    """The columns that the register gives a scratch table; any, if it makes it from a query."""
    for function in MAKERS:
        found = re.search(rf"create temporary table {table} (\(.*?\)) on commit", " ".join(function.body.split()))
        if found:
            return found[1]
    return "(anything integer)"


@contextmanager
def _session(reg: RegisterDatabase, role: str) -> Iterator[tuple[Connection, list[str]]]:
    """The session of a login with this role alone, and the warnings it got."""
    reg.conn.execute(f"create role planter login in role {role}")
    warnings: list[str] = []
    try:
        with psycopg.connect(reg.conn.info.dsn, user="planter", autocommit=True) as conn:
            conn.add_notice_handler(lambda d: warnings.append(d.message_primary or ""))
            yield conn, warnings
    finally:
        reg.conn.execute("drop owned by planter; drop role planter")


def _plant(conn: Connection, tables: list[str]) -> None:
    """Make these temporary tables with triggers that run code of this login, open to all roles."""
    conn.execute("discard temp")
    conn.execute(EVIL)
    for table in tables:
        conn.execute(f"create temporary table {table} {_shape(table)}; grant all on {table} to public")
        for event in ("insert", "delete"):
            conn.execute(
                f"create trigger {event} after {event} on {table} for each statement execute function pg_temp.evil()"
            )


def _some_units(reg: RegisterDatabase) -> None:
    for ident in "12":
        reg.lu(ident, "2025-01-01", employees=3)
    reg.relate("1", "2", "2025-01-01")
    reg.conn.execute("call worker.drain('analytics')")


@PLANTED
@pytest.mark.parametrize("role", ["register_read", "register_edit"])
def test_what_a_reader_or_editor_plants_is_refused_by_name(
    reg_db: RegisterDatabase, role: str, planted: list[list[str]]
) -> None:
    _some_units(reg_db)
    with _session(reg_db, role) as (conn, warnings):
        for tables in planted:
            _plant(conn, tables)
            with pytest.raises(psycopg.errors.DuplicateTable) as caught:
                conn.execute("select * from register.check_register(true)")
            message = caught.value.diag.message_primary or ""
            assert message in {f"pg_temp.{t} of this session is not a scratch table of the register" for t in tables}
        conn.execute("discard temp")
        assert conn.execute("select * from register.check_register(true)").fetchall() == []
    assert warnings == []


@PLANTED
def test_what_a_worker_plants_is_refused_by_name(reg_db: RegisterDatabase, planted: list[list[str]]) -> None:
    _some_units(reg_db)

    def refused(tables: list[str]) -> int:
        return reg_db.value(
            "select count(*) from worker.tasks where state = 'failed' and error = any (%s)",
            [f"pg_temp.{t} of this session is not a scratch table of the register" for t in tables],
        )

    with _session(reg_db, "catchment_worker") as (conn, warnings):
        for tables in [t for t in planted if not t[0].startswith("was_")]:
            before = refused(tables)
            _plant(conn, tables)
            reg_db.conn.execute("update register.legal_relationship set percentage = mod(percentage + 1, 90) + 1")
            reg_db.conn.execute("select worker.enqueue_collect_changes('all')")
            conn.execute("call worker.drain('analytics')")
            assert refused(tables) > before, tables
            assert warnings == []
            conn.execute("discard temp")
            reg_db.conn.execute("call worker.drain('analytics')")
    reg_db.conn.execute("select worker.enqueue_collect_changes('all')")
    reg_db.conn.execute("call worker.drain('analytics')")
    reg_db.check(deep=True)


@pytest.mark.parametrize(
    "plant",
    [
        "create temporary view g_unit as select 1 as unit_id",
        "create temporary sequence g_unit",
        "create type pg_temp.g_unit as (unit_id integer)",
        "create temporary table g_unit (unit_id integer) partition by list (unit_id)",
    ],
)
def test_another_kind_of_relation_is_refused_even_of_the_owner(reg_db: RegisterDatabase, plant: str) -> None:
    with reg_db.connect() as conn:
        conn.execute("grant register_owner to current_user; set role register_owner")
        conn.execute(plant)
        with pytest.raises(psycopg.errors.DuplicateTable, match=r"g_unit of this session is not a scratch table"):
            conn.execute("select register.reach_relationships('{[1,2)}')")


@pytest.mark.parametrize("maker", MAKERS, ids=lambda f: f.name)
def test_makers_look_before_they_make(maker: Function) -> None:
    asked = re.search(r"register\.has_scratch\(([^)]*)\)", maker.body)
    assert asked is not None
    assert re.findall(r"'(\w+)'", asked[1]) == MAKES.findall(maker.body)
    first = MAKES.search(maker.body)
    assert first is not None
    assert asked.start() < first.start()


Step = tuple[tuple[str, ...], tuple[str, str] | None]


def _steps(function: Function) -> list[Step]:
    """The scratch tables that a body names before each of its calls, and the call; the last ones come before none."""
    steps: list[Step] = []
    place = 0
    for match in CALL.finditer(function.body):
        steps.append((tuple(USED.findall(function.body[place : match.start()])), (match[1], match[2])))
        place = match.end()
    return [*steps, (tuple(USED.findall(function.body[place:])), None)]


@pytest.mark.long
def test_scratch_tables_are_opened_before_they_are_used() -> None:
    """Each routine that no other calls is followed through its calls, in the order of the text."""
    by_name = {(f.schema, f.name): f for f in all_functions()}
    called = {key for f in all_functions() for key in CALL.findall(f.body) if key != (f.schema, f.name)}
    steps = {key: _steps(function) for key, function in by_name.items()}
    made = {key: {f"pg_temp.{t}" for t in MAKES.findall(function.body)} for key, function in by_name.items()}
    wrong: set[tuple[str, str, str]] = set()
    # What is open in the end only depends on what was open in the beginning.
    known: dict[tuple[tuple[str, str], frozenset[str]], frozenset[str]] = {}

    def follow(start: Function, key: tuple[str, str], opened: frozenset[str], path: frozenset[str]) -> frozenset[str]:
        if key[1] in path:
            return opened
        if (key, opened) not in known:
            now = opened | made[key]
            for tables, call in steps[key]:
                wrong.update((start.name, key[1], table) for table in tables if table not in now)
                if call in by_name:
                    now = follow(start, call, now, path | {key[1]})
            known[key, opened] = now
        return known[key, opened]

    for key, function in by_name.items():
        if key not in called or "procedure" in function.signature.split("(")[0]:
            follow(function, key, frozenset(), frozenset())
    assert wrong == set()
    assert all(touched(f).makes for f in MAKERS)
