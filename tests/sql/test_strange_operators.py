"""Operators and functions of others: nothing that a stranger puts into a schema of the path runs with our rights."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.fixtures import spare
from tests.fixtures.engine import Engine
from tests.fixtures.often import often

# They may not fix their path, because they commit.
OPEN = """
select p.proname, p.prosrc from pg_proc as p
 where p.pronamespace = 'worker'::regnamespace and p.prosqlbody is null
   and not exists (select from unnest(p.proconfig) as c where c like 'search_path=%')
"""
# What an operator of the path can be meant by: its sign, and words that stand for one.
SIGN = r"(?<!operator\(pg_catalog\.)(?<![-+*/<>=~!@#%^&|`?:.])[-+*/<>=~!@#%^&|`?]+(?![-+*/<>=~!@#%^&|`?])"
WORD = r"\b(nullif|i?like|in|between|distinct from|similar to|case\s+(?!when))\b"
TYPES = [
    "integer",
    "bigint",
    "numeric",
    "double precision",
    "text",
    "name",
    "jsonb",
    "interval",
    "timestamptz",
    "boolean",
]
SIGNS = ["*", "+", "-", "^", "/", "||", "->>", "->", "=", "<>", "<", ">", "<=", ">=", "~~"]


def _bare(text: str) -> list[str]:
    text = re.sub(r"--[^\n]*|'(?:[^']|'')*'", "''", text)
    text = re.sub(r":=|=>|::|\.\.|constant", " ", text)
    text = re.sub(r"\bfor \w+ in\b|\bselect \*|count\(\*\)|(?<=diagnostics)[^;]*", " ", text)
    return re.findall(SIGN, text) + [m.group() for m in re.finditer(WORD, text)]


def test_procedures_that_cannot_fix_their_path_say_which_operator_they_mean(engine: Engine) -> None:
    found = {name: _bare(text) for name, text in engine.conn.execute(OPEN)}
    assert len(found) > 5
    assert {name: bare for name, bare in found.items() if bare} == {}


@pytest.fixture
def stranger(committed: Engine) -> Engine:
    """Everything that can be put into ``public`` to be run in place of what is meant; it notes who ran it."""
    committed.conn.execute(
        "create table public.loot (who text, what text); grant insert on public.loot to public;"
        "create function public.note(p_what text) returns void language sql set search_path = pg_catalog as"
        " $$ insert into public.loot values (current_user, p_what) $$"
    )
    pairs = [(left, right) for left in TYPES for right in TYPES]
    statements: list[str] = []
    for number, (left, right) in enumerate(pairs):
        for sign in SIGNS:
            is_test = sign in ("=", "<>", "<", ">", "<=", ">=", "~~")
            result = "boolean" if is_test else "text"
            name = f'public."{sign}{number}"'
            note = f"perform public.note('{left} {sign} {right}')"
            statements.append(
                f"create function {name}({left}, {right}) returns {result} language plpgsql"
                f" set search_path = pg_catalog as $$ begin {note}; return null; end $$;"
                f"create operator public.{sign} (function = {name}, leftarg = {left}, rightarg = {right})"
            )
    committed.conn.execute(";".join(statements))  # type: ignore[arg-type]
    return committed


LOOT = "select coalesce(pg_catalog.array_agg(distinct what), '{}') from public.loot"


@pytest.mark.parametrize("path", often("public, pg_catalog", now_and_then=["public"]))
def test_operators_of_others_do_not_run_while_tasks_run(stranger: Engine, path: str) -> None:
    conn = stranger.conn
    conn.execute(
        "create procedure probe.quiet(payload jsonb, inout info jsonb) language plpgsql set search_path = pg_catalog as"
        " $$ begin insert into probe.effect (note) values ('ran');"
        " if payload ? 'again' then raise exception using errcode = '40001'; end if; end $$;"
        "create procedure probe.hook(payload jsonb) language plpgsql set search_path = pg_catalog as"
        " $$ begin insert into probe.effect (note) values ('hook'); end $$"
    )
    stranger.command(
        "quiet", handler_procedure="probe.quiet", before_procedure="probe.hook", after_procedure="probe.hook"
    )
    stranger.conn.execute(
        "select worker.enqueue('quiet'), worker.enqueue('quiet', '{\"again\": true}'), worker.enqueue('quiet')"
    )
    conn.execute(f"set search_path = {path}")  # type: ignore[arg-type]
    conn.execute("call worker.process_tasks(1, 60000, 'work')")
    conn.execute("call worker.process_tasks(1, 60000, 'work', p_mode => 'top')")
    conn.execute("call worker.drain('work')")
    conn.execute("set search_path = pg_catalog")
    assert stranger.value(LOOT) == []
    assert stranger.notes().count("hook") >= 4
    conn.execute("drop table public.loot cascade")


@pytest.mark.long
def test_operators_of_others_do_not_run_in_reads_of_the_command_line(stranger: Engine, db: str) -> None:
    task = stranger.enqueue()
    user = conninfo_to_dict(db)["dbname"]
    stranger.conn.execute(f'alter database "{user}" set search_path = public, pg_catalog')  # type: ignore[arg-type]
    for arguments in (["doctor"], ["task", "list"], ["task", "show", str(task)], ["queue", "list"], ["migrate"]):
        done = spare.run(*arguments, environment={**os.environ, "CATCHMENT_DSN": db}, timeout=60)
        assert done.returncode == 0, done.stderr
    stranger.conn.execute("set search_path = pg_catalog")
    assert stranger.value(LOOT) == []


@pytest.mark.long
def test_operators_of_others_do_not_run_in_the_register_and_the_lake(stranger: Engine, db: str, tmp_path: Path) -> None:
    user = conninfo_to_dict(db)["dbname"]
    stranger.conn.execute(f'alter database "{user}" set search_path = public, pg_catalog')  # type: ignore[arg-type]
    environment = {**os.environ, "CATCHMENT_DSN": db, "CATCHMENT_LAKE": str(tmp_path / "lake")}
    file = tmp_path / "tables.sql"
    file.write_text("CREATE DYNAMIC TABLE t TARGET_LAG = '1 hour' AS SELECT 1 AS a;")
    for arguments in (
        ["register", "init", "--country", "NO"],
        ["register", "status"],
        ["table", "list"],
        ["table", "create", str(file), "--no-wait"],
        ["table", "describe", "t"],
        ["table", "drop", "t"],
    ):
        done = spare.run(*arguments, environment=environment, timeout=60)
        assert done.returncode == 0, (arguments, done.stderr)
    stranger.conn.execute("set search_path = pg_catalog")
    assert stranger.value(LOOT) == []
