"""Planner settings of functions in the database: those of their profiles, and no others."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from tests.fixtures.register_driver import Register
from tests.fixtures.sql_files import profiles

SETTINGS = """
select p.proname, split_part(c.setting, '=', 1), split_part(c.setting, '=', 2)
  from pg_proc as p
 cross join unnest(p.proconfig) as c (setting)
 where p.pronamespace = %s::regnamespace
   and c.setting not like 'search_path=%%'
   and c.setting not like 'lock_timeout=%%'
"""


def settings_in_profiles(schema: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for profile in profiles(schema):
        for name in profile.functions:
            settings = found.setdefault(name, {})
            assert not settings.keys() & profile.settings.keys(), f"{name} has a setting from two profiles"
            settings |= profile.settings
    return found


def settings_in_database(conn: Connection[Any], schema: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name, setting, value in conn.execute(SETTINGS, [schema]):
        found.setdefault(name, {})[setting] = value
    return found


def test_functions_of_the_engine_have_the_settings_of_their_profiles(tx: Connection[Any]) -> None:
    assert settings_in_database(tx, "worker") == settings_in_profiles("worker")


def test_functions_of_the_lake_have_the_settings_of_their_profiles(module_lake: Any) -> None:
    with module_lake.control.connection() as conn:
        assert settings_in_database(conn, "lake") == settings_in_profiles("lake")


def test_functions_of_the_register_have_the_settings_of_their_profiles(reg: Register) -> None:
    assert settings_in_database(reg.conn, "register") == settings_in_profiles("register")
