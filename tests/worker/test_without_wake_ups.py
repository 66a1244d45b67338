"""Everything here holds without notifications: they only save polls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_all_tests_of_workers_pass_with_wake_ups_off() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not long", str(Path(__file__).parent)]
    done = subprocess.run(command, env=os.environ | {"CATCHMENT_WAKE_UPS": "false"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
