"""What the header of a SQL function says about it is so."""

from __future__ import annotations

import re

import pytest

from tests.fixtures.sql_files import FOLDERS, functions, profiles

# Settings that a file states itself: who can lead it astray, and how long it waits.
OWN_SETTINGS = {"search_path", "lock_timeout"}

schemas = pytest.mark.parametrize("schema", [*FOLDERS])


@schemas
def test_a_header_names_the_profiles_that_list_its_function(schema: str) -> None:
    listed: dict[str, list[str]] = {}
    for profile in profiles(schema):
        for name in profile.functions:
            listed.setdefault(name, []).append(profile.name)
    named = {f.name: f.clause("plan") for f in functions(schema) if f.clause("plan")}
    assert listed == named


@schemas
def test_planner_settings_come_from_profiles_alone(schema: str) -> None:
    found = {
        f.name: settings
        for f in functions(schema)
        if (settings := set(re.findall(r"\bset (\w+)", f.signature)) - OWN_SETTINGS)
    }
    assert found == {}


@schemas
def test_every_file_fixes_the_search_path_of_its_function(schema: str) -> None:
    """But for SQL functions that are inlined or parsed when they are made, and procedures that commit."""
    path = re.compile(r" set search_path = pg_catalog, pg_temp\s")
    loose = [f for f in functions(schema) if not path.search(f.signature)]
    assert [f.name for f in loose if "security definer" in f.signature] == []
    assert [f.name for f in loose if "language sql" not in f.signature and " procedure " not in f.signature] == []


@schemas
def test_the_attributes_of_a_function_are_on_one_line(schema: str) -> None:
    own_line = re.compile(r"^\s+(stable|immutable|strict|security definer|set \w+ = .*)$", re.MULTILINE)
    assert [f.name for f in functions(schema) if own_line.search(f.signature)] == []


@schemas
def test_profiles_differ_and_none_is_idle(schema: str) -> None:
    found = profiles(schema)
    assert len({frozenset(p.settings.items()) for p in found}) == len({p.name for p in found}) == len(found) > 0
    for profile in found:
        assert profile.settings
        assert profile.functions == sorted(set(profile.functions)) != [], profile.name
