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
