"""``catchment register sql``, and the tutorial as somebody follows it who has no server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.steps import ROOT, read_blocks
from tests.fixtures.register import Cli
from tests.fixtures.register_driver import RegisterDatabase


def test_statements_show_what_they_return(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    reg_db.lu("1", "2025-01-01", employees=3)
    done = reg_cli("sql", "select name, valid_from from register.legal_unit; select 1.50 as number")
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["name", "valid", "from"],
        ["Unit", "1", "2025-01-01"],
        ["number"],
        ["1.5"],
    ]
    assert json.loads(reg_cli("sql", "select 1 as a; select 2 as b", "--json").stdout) == [[{"a": 1}], [{"b": 2}]]
    assert reg_cli("sql", "update register.legal_unit set name = 'New'").stdout == "done\n"
    assert reg_db.value("select name from register.legal_unit") == "New"
    assert reg_cli("sql", "select from register.enterprise where false").stdout == "no rows\n"
    assert "syntax error" in reg_cli("sql", "selec 1", code=1).stderr


def _shown(reg_cli: Cli, statement: str) -> list[list[str]]:
    return [line.split() for line in reg_cli("sql", statement).stdout.splitlines()]


def test_values_are_shown_as_the_server_writes_them(reg_cli: Cli) -> None:
    assert _shown(reg_cli, """select '{"name": "a b"}'::jsonb as j, '["é"]'::json as k""")[1] == [
        *('{"name":', '"a', 'b"}'),
        '["é"]',
    ]
    assert _shown(reg_cli, "select array['a', 'b'] as list, null as n, false as f, true as t, '' as e, 'x' as x") == [
        ["list", "n", "f", "t", "e", "x"],
        ['["a",', '"b"]', "NULL", "false", "true", "x"],
    ]


def test_columns_of_the_same_name_are_all_shown(reg_cli: Cli) -> None:
    assert _shown(reg_cli, "select 1 as a, 2 as a, 3 as b") == [["a", "a", "2", "b"], ["1", "2", "3"]]
    told = json.loads(reg_cli("sql", "select 1 as a, 2 as a_2, 3 as a", "--json").stdout)
    assert told == [[{"a": 1, "a_2": 2, "a_3": 3}]]


@pytest.mark.parametrize("statement", ["copy (select 1) to stdout", "copy register.tag from stdin"])
def test_copy_is_refused_in_a_sentence(reg_cli: Cli, statement: str) -> None:
    said = reg_cli("sql", statement, code=1).stderr
    assert "COPY from and to the terminal is not supported" in said
    assert "rollback" not in said


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_every_block_of_the_tutorial_runs_without_a_server(tmp_path: Path) -> None:
    """The embedded server ends between two blocks, as when people pause."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "catchment"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m catchment "$@"\n')
    program.chmod(0o755)
    inherited = {k: v for k, v in os.environ.items() if k != "CATCHMENT_DSN"}
    environment = inherited | {"CATCHMENT_DATA": str(tmp_path / "data"), "COLUMNS": "200"}
    environment["PATH"] = f"{tmp_path / 'bin'}:{environment['PATH']}"
    (tmp_path / "here").mkdir()
    for block in read_blocks((ROOT / "docs" / "register" / "tutorial.md").read_text(encoding="utf-8")):
        if block.language not in ("sh", "sql"):
            continue
        expected = block.text.count("-- returns:")
        is_sql = block.language == "sql"
        command = ["catchment", "register", "sql", "--json"] if is_sql else ["bash", "-e", "-c", block.text]
        done = subprocess.run(
            command,
            input=block.text if is_sql else None,
            cwd=tmp_path / "here",
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == 0, (block.line, done.stdout, done.stderr)
        if is_sql:
            assert sum(map(len, json.loads(done.stdout))) == expected, (block.line, done.stdout)
