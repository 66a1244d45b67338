"""The SQL files of a package: which are found, in which order, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from catchment.errors import DefinitionRefused
from catchment.schema import files
from catchment.schema.files import Script


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """An empty package with a name that no other test has: what is read is kept."""
    folder = tmp_path / f"sql_of_{abs(hash(request.node.nodeid))}"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def test_each_part_is_read_in_the_order_of_names_and_parts_that_are_missing_are_empty(package: Path) -> None:
    write(package, "migrations/0002_b.sql", "migrations/0001_a.sql", "functions/z.sql", "functions/a/y.sql")
    write(package, "grants.sql", "profiles.sql", "functions/notes.txt", "commands/registry.sql", "queries/one.sql")
    write(package, "grants/b.sql", "commands/grants.sql")
    assert [(m.number, m.name) for m in files.migrations(package.name)] == [(1, "0001_a"), (2, "0002_b")]
    parts = {
        files.routines: ["functions/a/y.sql", "functions/z.sql", "profiles.sql"],
        files.grants: ["grants.sql", "grants/b.sql"],
        files.commands: ["commands/registry.sql"],
        files.command_grants: ["commands/grants.sql"],
    }
    for part, names in parts.items():
        assert part(package.name) == tuple(Script(name, name) for name in names)
    assert files.query(package.name, "one") == "queries/one.sql"


def test_commands_are_part_of_the_fingerprint_and_queries_are_not(package: Path) -> None:
    write(package, "functions/a.sql", "commands/registry.sql")
    before = files.fingerprint(package.name)
    for cached in (files.routines, files.commands, files.fingerprint):
        cached.cache_clear()
    write(package, "queries/one.sql")
    assert files.fingerprint(package.name) == before
    for cached in (files.routines, files.commands, files.fingerprint):
        cached.cache_clear()
    (package / "commands" / "registry.sql").write_text("other")
    assert files.fingerprint(package.name) != before


@pytest.mark.parametrize("name", [None, "stock.sql", "00001_a.sql", "٠٠٠٢_b.sql", "0002_b.SQL", "0003.sql"])
def test_a_schema_without_numbered_migrations_is_refused(package: Path, name: str | None) -> None:
    if name is not None:
        write(package, f"migrations/{name}")
    with pytest.raises(DefinitionRefused, match=f"has {f'migrations/{name}' if name else 'no migration'}, expected"):
        files.migrations(package.name)


def test_a_migration_in_a_separate_folder_is_refused(package: Path) -> None:
    write(package, "migrations/0002_b.sql", "migrations/old/0001_a.sql")
    with pytest.raises(DefinitionRefused, match=r"has migrations/old/0001_a.sql, expected"):
        files.migrations(package.name)


def test_two_migrations_of_one_number_are_refused(package: Path) -> None:
    write(package, "migrations/0001_a.sql", "migrations/0002_b.sql", "migrations/0002_c.sql")
    with pytest.raises(DefinitionRefused, match=r"has 2 migrations with the number 0002: 0002_b.sql, 0002_c.sql"):
        files.migrations(package.name)


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"select 1;\0 select 2;", "has a zero byte in it"), (b"select '\xe9'", "not written in UTF-8")],
)
def test_a_file_that_is_no_text_is_refused(package: Path, content: bytes, says: str) -> None:
    write(package, "functions/a.sql")
    (package / "functions" / "a.sql").write_bytes(content)
    with pytest.raises(DefinitionRefused, match=f"a.sql .*{says}|a.sql is {says}"):
        files.routines(package.name)


def test_a_byte_order_mark_is_not_part_of_the_text(package: Path) -> None:
    write(package, "functions/a.sql")
    (package / "functions" / "a.sql").write_bytes(b"\xef\xbb\xbfselect 1")
    assert [script.text for script in files.routines(package.name)] == ["select 1"]
