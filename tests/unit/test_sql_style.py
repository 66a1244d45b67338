"""The text of the SQL files, whatever it does."""

from __future__ import annotations

from tests.fixtures.sql_files import SOURCE

LONGEST = 120


def test_no_line_of_sql_is_longer_than_a_line_of_python() -> None:
    files = sorted(SOURCE.rglob("*.sql"))
    assert len(files) > 500
    long = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > LONGEST
    ]
    assert long == []
