"""Fresh environments with what was built: a wheel, and Python as a user has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Of this run or of this machine: none of it is the reader's.
OURS = ("CATCHMENT_", "PG", "PYTHON", "PYTEST", "VIRTUAL_ENV", "LAKE_", "COV_")
VERSIONS = ("3.11", "3.12", "3.13")


def build(folder: Path, *kinds: str, source: Path = ROOT) -> list[Path]:
    """What ``make dist`` makes, in this folder."""
    command = [sys.executable, "-m", "build", "--no-isolation", *kinds, "--outdir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(folder.iterdir())


def clean_environment(**variables: str) -> dict[str, str]:
    """The variables of this process without those that would make a reader's program another one."""
    return {k: v for k, v in os.environ.items() if not k.startswith(OURS)} | variables


@dataclass(frozen=True)
class Environment:
    """A virtual environment in a folder."""

    folder: Path

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    @property
    def packages(self) -> Path:
        (found,) = (self.folder / "lib").glob("python3*/site-packages")
        return found

    def pip(self, *arguments: str) -> None:
        command = [self.programs / "python", "-m", "pip", "--disable-pip-version-check", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=clean_environment())
        assert done.returncode == 0, done.stdout + done.stderr


def make_quick(folder: Path, wheel: Path) -> Environment:
    """With the wheel in it, and the libraries of the environment that runs the tests: quick, without the network."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, env=clean_environment())
    made = Environment(folder)
    target = ["--python", str(made.programs / "python"), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *target]
    done = subprocess.run(command, capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    # After the environment's own, and without what an installation for development has put there.
    (made.packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return made


def make_fresh(folder: Path, python: str, wheel: Path, extras: str) -> Environment:
    """As a user makes it: a new environment, and ``pip install catchment[extras]``, with the wheel for the package."""
    subprocess.run([python, "-m", "venv", folder], check=True, env=clean_environment())
    made = Environment(folder)
    made.pip("install", "--quiet", f"catchment{extras} @ {wheel.as_uri()}")
    return made


def find_pythons() -> dict[str, str]:
    """The programs of the supported versions that this machine has."""
    known = {version: shutil.which(f"python{version}") for version in VERSIONS}
    for version in VERSIONS:
        installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
        known[version] = str(installed[-1]) if installed else known[version]
    return {version: program for version, program in known.items() if program is not None}
