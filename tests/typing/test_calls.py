"""Both type checkers say about each call what its comment says, in their strictest mode."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures.often import often

HERE = Path(__file__).parent
CALLS = HERE / "calls.py"
FILES = (CALLS, HERE / "connections.py")
SOURCE = HERE.parents[1] / "src"
PAGE = HERE.parents[1] / "docs" / "how-to" / "check-your-calls.md"


def expected() -> list[tuple[str, int]]:
    """The lines that are wrong, with their file."""
    return [
        (file.name, number)
        for file in FILES
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if "# error: " in line
    ]


def by_pyright(folder: Path) -> str:
    for file in FILES:  # it includes what is in its folder alone
        shutil.copy(file, folder)
    settings = {
        "include": [file.name for file in FILES],
        "extraPaths": [str(SOURCE)],
        "typeCheckingMode": "strict",
        "pythonVersion": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    output = _run("pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(folder))
    problems = [one for one in json.loads(output)["generalDiagnostics"] if one["severity"] == "error"]
    return "\n".join(
        f"{Path(one['file']).name}:{one['range']['start']['line'] + 1}: error: {one['message']}" for one in problems
    )


def by_mypy(folder: Path) -> str:
    options = ("--strict", "--follow-imports=silent", "--python-executable", sys.executable, "--config-file=")
    return _run("mypy", *options, "--cache-dir", str(folder), *map(str, FILES))


def _run(*command: str) -> str:
    environment = {"PATH": "/usr/bin:/bin", "MYPYPATH": str(SOURCE), "HOME": str(Path.home())}
    run = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, timeout=220, check=False, env=environment
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize("check", often(by_pyright, now_and_then=[by_mypy]))
def test_each_call_has_the_verdict_that_it_says(check: Callable[[Path], str], tmp_path: Path) -> None:
    said = check(tmp_path)
    wrong = {(file, int(line)) for file, line in re.findall(r"^.*\b(\w+\.py):(\d+): error: ", said, re.M)}
    assert sorted(wrong) == expected(), said


def test_the_page_shows_the_calls() -> None:
    assert f"```python\n{CALLS.read_text()}```" in PAGE.read_text()
