"""What the repository hands on is source: text that is read and pictures that are shown."""

from __future__ import annotations

import subprocess

from tests.package.environment import ROOT

LARGEST = 400_000
ARCHIVES = {".whl", ".zip", ".gz", ".tar", ".zst", ".parquet", ".duckdb", ".xlsx"}


def test_no_file_is_an_archive_or_larger_than_a_reader_expects() -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    files = [ROOT / name for name in listed if (ROOT / name).is_file()]
    assert len(files) > 1000
    assert not [file.name for file in files if file.suffix in ARCHIVES or file.stat().st_size > LARGEST]
