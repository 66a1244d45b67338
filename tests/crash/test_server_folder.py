"""What the embedded server does with the folder it is given: nothing that somebody else put there is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from catchment.errors import ServerUnavailable
from catchment.store import embedded


def _files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A folder with somebody's files."""
    folder = tmp_path / "precious"
    (folder / "thesis").mkdir(parents=True)
    (folder / "notes.txt").write_text("important")
    (folder / "thesis" / "chapter1.txt").write_text("more")
    return folder


def test_a_folder_with_other_files_is_refused_and_left_as_it_is(precious: Path) -> None:
    before = _files(precious)
    with pytest.raises(ServerUnavailable, match=r"neither empty nor a data directory.*notes\.txt"):
        embedded.start(precious)
    assert _files(precious) == before
    assert sorted(path.name for path in precious.iterdir()) == ["notes.txt", "thesis"]


def test_a_link_to_a_folder_with_other_files_is_refused_too(precious: Path, tmp_path: Path) -> None:
    before = _files(precious)
    link = tmp_path / "link"
    link.symlink_to(precious)
    with pytest.raises(ServerUnavailable, match="neither empty nor a data directory"):
        embedded.start(link)
    assert _files(precious) == before


def test_a_command_names_the_folder_that_it_refuses(precious: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "catchment", "queue", "list"],
        env={key: value for key, value in os.environ.items() if key != "CATCHMENT_DSN"}
        | {"CATCHMENT_DATA": str(precious), "COLUMNS": "400"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert str(precious) in done.stderr
    assert "Traceback" not in done.stderr
    assert (precious / "notes.txt").read_text() == "important"
