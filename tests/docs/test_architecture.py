"""What the docs say about the shape of the code is so: folders, lock order, values that are written down twice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection

from catchment.runtime.options import WorkerOptions
from catchment.runtime.settings import WorkerSettings

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "catchment"
FUNCTIONS = SOURCE / "sql" / "functions"
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
MAP = (ROOT / "docs" / "architecture.md").read_text("utf-8")
REASONS = "select pg_get_constraintdef(oid) from pg_constraint where conname = 'blocked_reason_is_known'"


def test_the_map_names_every_part_of_the_package() -> None:
    parts = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    named = set(re.findall(r"\*\*`catchment\.(\w+)`\*\*", MAP.split("## Parts")[1].split("\n## ")[0]))
    assert parts - {"__init__", "__main__", "sql"} == named


def test_the_map_names_every_folder_of_functions() -> None:
    listed = MAP.split("`functions/` is organised by noun:")[1].split("Beside it")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == {path.name for path in FUNCTIONS.iterdir() if path.is_dir()}


def locked(header: str) -> list[str]:
    """The rows that a function waits for, as its header names them."""
    locks = re.search(r"^--   locks(.*?)(?=^--   \w|^(?!--))", header, re.MULTILINE | re.DOTALL)
    if locks is None:
        return []
    clauses = re.split(r"[;:,]", re.sub(r"\n--\s*", " ", locks[1]))
    # Rows that are free, new, held by the caller or taken by nobody else are not waited for.
    waited = [clause for clause in clauses if not re.search(r"\bfree\b|\bnew\b|caller holds|reopened", clause)]
    return re.findall(r"\b(meter|running|scope|lane|ready|blocked)\b", ";".join(waited))


def test_headers_name_locks_in_the_one_order() -> None:
    order = re.search(r"^> (meter rows.*?)\n\n", MAP, re.MULTILINE | re.DOTALL)
    assert order is not None
    ranks = {name: rank for rank, step in enumerate(order[1].split("→")) for name in re.findall(r"\w+", step)}
    sequences = {path.stem: locked(path.read_text("utf-8")) for path in sorted(FUNCTIONS.rglob("*.sql"))}
    assert sum(len(names) > 1 for names in sequences.values()) > 9
    wrong = {stem: names for stem, names in sequences.items() if names != sorted(names, key=ranks.__getitem__)}
    assert wrong == {}


@pytest.mark.parametrize(
    ("page", "pattern"),
    [
        ("docs/reference/sql.md", r"^\| `waits_for` \| why the task does not continue: (.*?);"),
        ("docs/architecture.md", r"cannot start yet, with a reason: (.*?) \|"),
    ],
)
def test_the_pages_have_every_reason_to_be_blocked(page: str, pattern: str, tx: Connection[Any]) -> None:
    row = tx.execute(REASONS).fetchone()
    assert row is not None
    listed = re.search(pattern, (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == set(re.findall(r"'(\w+)'", row[0]))


def test_a_setting_that_is_mentioned_with_a_number_has_that_default() -> None:
    defaults = {WorkerSettings.names(name)[0]: field.default for name, field in WorkerSettings.model_fields.items()}
    mentions = [
        (page.relative_to(ROOT), name, number, unit)
        for page in PAGES
        for name, number, unit in re.findall(
            r"`([A-Z_]+)`(?:,\s| \()(?:default )?([\d.]+)( seconds)?\)", page.read_text("utf-8")
        )
        if name in defaults
    ]
    assert len(mentions) > 9
    wrong = [
        (str(page), name, number)
        for page, name, number, unit in mentions
        if float(number) * (1000 if unit and name.endswith("_MS") else 1) != defaults[name]
    ]
    assert wrong == []


def test_the_architecture_has_the_pause_of_a_sleeping_worker() -> None:
    minutes = WorkerOptions().idle_poll.total_seconds() / 60
    assert f"every {minutes:g} minutes" in (ROOT / "docs/architecture.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_has_two_sections_of_one_name(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^##+ (.+)$", text, re.MULTILINE)
    if page.name != "CHANGELOG.md":  # each version has its Added, Changed, Fixed
        assert sorted(titles) == sorted(set(titles))


def test_contributing_names_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("### Where does my change go?")[1].split("\n## ")[0]
    examples, exercises = text.split("### Three exercises")
    assert len(re.findall(r"^\| (?!You want|---)", examples, re.MULTILINE)) >= 10
    for exercise in re.split(r"^\*\*", exercises, flags=re.MULTILINE)[1:]:
        assert 1 <= len(re.findall(r"^\d\. `", exercise, re.MULTILINE)) <= 3
    named = set(re.findall(r"`((?:src|docs|tests)/[\w./-]+)`", text))
    assert len(named) > 20
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_pages_about_the_code_name_files_that_exist() -> None:
    files = [path.as_posix() for folder in ("src", "tests", "docs", "bench") for path in (ROOT / folder).rglob("*.*")]
    pages = [page for page in PAGES if page.parent.name not in ("design", "how-to", "reference")]
    named = {name for page in pages for name in re.findall(r"`([\w/-]+/[\w-]+\.(?:py|sql))`", page.read_text("utf-8"))}
    assert len(named) > 9
    assert [name for name in sorted(named) if not any(path.endswith(f"/{name}") for path in files)] == []
