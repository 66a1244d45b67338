from __future__ import annotations

import gc
import importlib.util
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = [
    "tests.fixtures.server",
    "tests.fixtures.engine",
    "tests.fixtures.worker",
    "tests.fixtures.embedded",
    "tests.fixtures.restart",
    "tests.fixtures.register",
    "tests.fixtures.lake",
    "tests.fixtures.s3",
    "tests.fixtures.cli",
    "tests.fixtures.table_cli",
    "tests.fixtures.terminal",
]

# The suite starts hundreds of processes; each would compile all it imports if none could keep what it has compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What the suite makes is garbage soon, or stays to the end: to look for it less often saves a tenth of the time.
gc.set_threshold(20_000)

# DuckDB imports it for every parameter of a statement. That it is not there is found in all of the path each time, or
# here.
if importlib.util.find_spec("pandas") is None:
    sys.modules["pandas"] = None  # type: ignore[assignment]

settings.register_profile("same", derandomize=True, database=None)
settings.register_profile("new", database=None)


# Loaded by the Python processes that tests start; see there.
PROCESSES = Path(__file__).parent / "fixtures/processes"


def pytest_configure(config: pytest.Config) -> None:
    """Ordinary runs try the same examples each time, so that only a change makes them fail; long ones draw new ones."""
    settings.load_profile("new" if config.getoption("markexpr") == "long" else "same")
    # Not of the one that only starts the test processes.
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PROCESSES), os.environ.get("PYTHONPATH")]))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tests and libraries stay to the end; collections of garbage need not look through them."""
    gc.collect()
    gc.freeze()
