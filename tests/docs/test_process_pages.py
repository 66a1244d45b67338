"""Pages whose commands need a cluster, a service or a server of their own: their programs start, the rest is valid.

What those commands do has tests of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import yaml

from tests.docs.live import file_of
from tests.docs.steps import PROCESS_PAGES, ROOT, Block, read_blocks, run_sql

# What these show is in the examples, which run: see tests/examples.
PAGES = [page for page in PROCESS_PAGES if not page.stem.startswith("use-with-")]
PYTHON_PAGE = ROOT / "docs" / "reference" / "python.md"


@pytest.mark.long
@pytest.mark.parametrize("page", [*PAGES, PYTHON_PAGE], ids=lambda page: page.stem)
def test_the_programs_of_a_page_start_and_its_files_are_valid(page: Path, lake_db: str, tmp_path: Path) -> None:
    for number, block in enumerate(read_blocks(page.read_text(encoding="utf-8"))):
        try:
            _check(block, lake_db, tmp_path / (file_of(block) or f"block_{number}.py"))
        except Exception as problem:
            where = f"{page.relative_to(ROOT)}:{block.line}"
            pytest.fail(f"{where}\n{block.text}\n\n{type(problem).__name__}: {problem}", pytrace=False)


def _check(block: Block, dsn: str, file: Path) -> None:
    if block.language == "python":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")
        started = subprocess.run(
            [sys.executable, file], capture_output=True, text=True, env={**os.environ, "CATCHMENT_DSN": dsn}
        )
        assert started.returncode == 0, started.stdout + started.stderr
    elif block.language == "sql":
        with psycopg.connect(dsn) as conn:
            run_sql(conn, block.text)
    elif block.language == "json":
        assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())
    elif block.language == "yaml":
        assert list(yaml.safe_load_all(block.text))
    elif block.language == "sh":
        parsed = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True)
        assert parsed.returncode == 0, parsed.stderr
