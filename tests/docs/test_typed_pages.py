"""Programs on the pages are correct for both type checkers in their strict modes, as the pages say of yours."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.steps import ROOT, read_blocks
from tests.fixtures.often import often

SOURCE = ROOT / "src"
# Those on frameworks show parts of programs: see tests/examples.
HOW_TO = [page for page in sorted((ROOT / "docs" / "how-to").glob("*.md")) if not page.stem.startswith("use-with-")]
PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", *HOW_TO]
# Theirs are not installed, or have no types.
UNTYPED = re.compile(r"\b(django|fastapi)\b")


def write_programs(folder: Path) -> list[str]:
    """Write each block that names its file, in a folder for its page; the names of those folders."""
    pages: set[str] = set()
    for page in PAGES:
        for block in read_blocks(page.read_text(encoding="utf-8")):
            named = re.match(r"# ([\w/]+\.py)\n", block.text)
            if block.language == "python" and named is not None and not UNTYPED.search(block.text):
                file = folder / page.stem / named[1]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text, encoding="utf-8")
                pages.add(page.stem)
    return sorted(pages)


def by_pyright(folder: Path, pages: list[str]) -> str:
    settings = {
        "include": pages,
        "extraPaths": [str(SOURCE)],
        "typeCheckingMode": "strict",
        "reportDeprecated": False,  # such as Iterator for a context manager
        "executionEnvironments": [{"root": page, "extraPaths": [str(SOURCE)]} for page in pages],
        "pythonVersion": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    return _run(folder, "pyright", "--pythonpath", sys.executable, "--project", str(folder))


def by_mypy(folder: Path, pages: list[str]) -> str:
    options = (
        "--strict",
        "--follow-imports=silent",
        "--explicit-package-bases",
        "--config-file=",
        "--cache-dir=../mypy",
    )
    return "".join(_run(folder / page, "mypy", *options, "--python-executable", sys.executable, ".") for page in pages)


def _run(folder: Path, *command: str) -> str:
    environment = {"PATH": "/usr/bin:/bin", "MYPYPATH": str(SOURCE), "HOME": str(Path.home())}
    run = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=220,
        check=False,
        env=environment,
    )
    return run.stdout + run.stderr if run.returncode else ""


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("check", often(by_pyright, now_and_then=[by_mypy]))
def test_the_programs_of_the_pages_are_typed(check: Callable[[Path, list[str]], str], tmp_path: Path) -> None:
    pages = write_programs(tmp_path)
    assert {"README", "tutorial", "test-your-tasks"} <= set(pages)
    assert check(tmp_path, pages) == ""
