"""What is built has everything that a user needs, and nothing else."""

from __future__ import annotations

import re
import runpy
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.docs.steps import read_blocks
from tests.package.environment import ROOT, build

PACKAGES = ("catchment", "catchment_register")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def source_files() -> set[str]:
    """The files of the packages that git knows or would know."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PACKAGES]
    listed = subprocess.run(command, cwd=ROOT / "src", check=True, capture_output=True, text=True).stdout.splitlines()
    return {name for name in listed if (ROOT / "src" / name).exists()}


def files_of(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.partition("/")[0].endswith(".dist-info")}


def test_the_wheel_has_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    made = files_of(wheel)
    assert made == source_files()
    # Of each kind that is not Python one that would be missed.
    assert {name for name in made if name.endswith("py.typed")} == {f"{name}/py.typed" for name in PACKAGES}
    assert {f"{name}/sql/grants.sql" for name in ("catchment", "catchment/lake", "catchment_register")} <= made


def test_the_wheel_says_what_it_needs_and_starts(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        info = f"catchment-{PROJECT['version']}.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode()
        entry_points = archive.read(f"{info}/entry_points.txt").decode()
    needed = [line for line in re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE) if "extra ==" not in line]
    assert not [line for line in needed if re.match(r"pixeltable|duckdb|sqlglot|openpyxl|matplotlib|sqlalchemy", line)]
    assert {*re.findall(r"^Provides-Extra: (.*)$", metadata, re.MULTILINE)} == {*PROJECT["optional-dependencies"]}
    assert "catchment = catchment.__main__:main" in entry_points
    assert "register = catchment_register.cli.main:app" in entry_points
    assert "[pytest11]\ncatchment = catchment.testing.plugin" in entry_points


def test_the_package_index_shows_the_readme_without_links_that_lead_nowhere(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"catchment-{PROJECT['version']}.dist-info/METADATA").decode()
    head, _, text = metadata.partition("\n\n")
    assert "Description-Content-Type: text/markdown" in head
    assert text.startswith("# Catchment\n")
    assert re.findall(r"\]\((?!https://)[^)]*\)", text) == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert list(read_blocks(text)) != []
    assert [block.text for block in read_blocks(text)] == [block.text for block in read_blocks(readme)]


def test_links_of_the_readme_are_absolute_once_the_repository_has_an_address() -> None:
    describe = runpy.run_path(str(ROOT / "hatch_build.py"))["describe"]
    text = "![Now](docs/now.png) [how](docs/how.md#a) [Celery](https://docs.celeryq.dev)"
    assert describe(text, "https://example.org/catchment") == (
        "![Now](https://example.org/catchment/raw/main/docs/now.png) "
        "[how](https://example.org/catchment/blob/main/docs/how.md#a) [Celery](https://docs.celeryq.dev)"
    )
    assert describe("See: [how](docs/how.md).", None) == "See."


def test_every_extra_that_a_page_names_exists() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        extra
        for page in pages
        for extras in re.findall(r"catchment\[([\w,]+)\]", page.read_text(encoding="utf-8"))
        for extra in extras.split(",")
    }
    assert named <= {*PROJECT["optional-dependencies"]}
    assert {"embedded", "lake", "register", "all"} <= named


@pytest.mark.long
def test_the_source_distribution_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    (source,) = build(tmp_path / "dist", "--sdist")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    (again,) = build(tmp_path / "again", "--wheel", source=unpacked)
    assert files_of(again) == files_of(wheel)
    for name in (
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "Makefile",
        "docs/tutorial.md",
        "tests/run.py",
        "examples/plain/books.py",
    ):
        assert (unpacked / name).exists(), name
