"""The tests of all pages, run once more with the wheel: no code of the checkout is there but its tests."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copy2, rmtree

import pytest

from tests.fixtures.server import make_folder
from tests.package.environment import ROOT, Environment, clean_environment, make_quick

# Each file that runs the blocks of pages or the programs of examples. The other tests in these folders compare pages
# with the source.
FILES = (
    "docs/test_how_to.py",
    "docs/test_lake_pages.py",
    "docs/test_live_pages.py",
    "docs/test_process_pages.py",
    "docs/test_register_pages.py",
    "docs/test_s3_page.py",
    "docs/test_testing_page.py",
    "docs/test_typed_pages.py",
    "examples/test_cookbook.py",
    "examples/test_django.py",
    "examples/test_fastapi.py",
    "examples/test_pages.py",
    "examples/test_scripts.py",
)


@pytest.fixture(scope="module")
def checkout() -> Iterator[Path]:
    """A folder with every file that git knows or would know, without ``src``."""
    folder = make_folder("checkout")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", ":!src"]
    for name in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copy2(ROOT / name, folder / name)
    yield folder
    rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Iterator[Environment]:
    folder = make_folder("installed")
    yield make_quick(folder, wheel)
    rmtree(folder, ignore_errors=True)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("file", FILES)
def test_pages_and_examples_work_with_the_wheel(file: str, checkout: Path, installed: Environment) -> None:
    """``tests.package.installed`` ends the run if it imports another package than the installed one."""
    options = ["-q", "-p", "no:cacheprovider", "-p", "tests.package.installed", "-m", "long or not long"]
    done = subprocess.run(
        [installed.programs / "python", "-m", "pytest", *options, f"tests/{file}"],
        cwd=checkout,
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert " passed" in done.stdout
