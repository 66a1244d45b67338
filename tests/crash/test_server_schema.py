"""The schema of the embedded server: whoever comes first brings it up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ENQUEUES = """
from catchment import App
app = App()

@app.command()
async def greet(name: str) -> None: ...

print(app.sync.enqueue(greet, name="Ada") is not None)
app.sync.close()
"""
CONNECTS = """
import catchment
with catchment.connect() as conn:
    print(conn.execute("select count(*) = 0 from worker.tasks").fetchone()[0])
"""


@pytest.mark.parametrize("program", [ENQUEUES, CONNECTS], ids=["app", "connect"])
def test_a_client_that_comes_first_finds_the_schema(
    folder: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.delenv("CATCHMENT_DSN", raising=False)
    monkeypatch.setenv("CATCHMENT_DATA", str(folder / "data"))
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("True\n", 0), ended.stderr
