"""A plugin of pytest: the package that is tested is the installed one, not a checkout."""

from __future__ import annotations

import sys
import sysconfig
from importlib import import_module
from pathlib import Path

PACKAGES = ("catchment", "catchment_register")


def pytest_sessionstart() -> None:
    libraries = Path(sysconfig.get_path("purelib"))
    for name in PACKAGES:
        file = Path(import_module(name).__file__ or "")
        assert file.parent == libraries / name, f"{name} is at {file.parent}, expected it in {libraries}"
    assert not [folder for folder in sys.path if folder.endswith("/src")], sys.path
