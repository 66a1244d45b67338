"""Bodies of functions. They are installed without a look, because they name functions that come later."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from tests.fixtures.register_driver import Register

CHECK = """
select count(plpgsql_validator(p.oid))
  from pg_proc as p
  join pg_language as l on l.oid = p.prolang
 where l.lanname = 'plpgsql'
   and p.pronamespace in (select n.oid from pg_namespace as n where n.nspname in ('worker', 'lake', 'register'))
"""


def assert_bodies_parse(conn: Connection[Any], *, least: int) -> None:
    """What cannot be parsed raises, and names its function."""
    row = conn.execute(CHECK).fetchone()
    assert row is not None
    assert row[0] >= least


def test_every_body_of_engine_and_register_parses(reg: Register) -> None:
    assert_bodies_parse(reg.conn, least=300)


def test_every_body_of_the_lake_parses(module_lake: Any) -> None:
    with module_lake.control.connection() as conn:
        assert_bodies_parse(conn, least=150)
