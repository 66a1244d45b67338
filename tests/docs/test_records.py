"""The design records are numbered without gaps, and what is written about a record names one that exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DESIGN = ROOT / "docs" / "design"
RECORDS = sorted(path.name for path in DESIGN.glob("[0-9]*.md"))
# By file name, or by number after the word.
MENTION = re.compile(r"\b(\d{4}-[a-z][\w-]*\.md)|\brecords?\s+\[?(\d{4})\b", re.IGNORECASE)


def texts() -> Iterator[tuple[Path, str]]:
    folders = ["src", "tests", "bench", "docs"]
    for path in [*ROOT.glob("*.md"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]:
        if path.suffix in {".md", ".py", ".sql", ".html"}:
            yield path.relative_to(ROOT), path.read_text("utf-8")


def test_the_numbers_have_no_gap_and_none_is_given_twice() -> None:
    assert [name[:4] for name in RECORDS] == [f"{number:04}" for number in range(1, len(RECORDS) + 1)]


def test_the_list_of_records_has_every_record_with_its_title() -> None:
    titles = [(DESIGN / name).read_text("utf-8").partition("\n")[0] for name in RECORDS]
    listed = re.findall(
        r"^\| \[(\d{4})\]\((.*?)\) \| (.*) \|$", (DESIGN / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert [(name, f"# {number} {title}") for number, name, title in listed] == list(zip(RECORDS, titles, strict=True))


def test_every_mention_of_a_record_names_one_that_exists() -> None:
    numbers = {name[:4] for name in RECORDS}
    missing = [
        f"{path}: {mention[0]}"
        for path, text in texts()
        for mention in MENTION.finditer(text)
        if (mention[1] not in RECORDS if mention[1] else mention[2] not in numbers)
    ]
    assert missing == []


def test_a_link_to_a_record_shows_the_number_of_its_file() -> None:
    links = [
        (path, shown, number)
        for path, text in texts()
        for shown, number in re.findall(
            r"\[(?:record\s+)?(\d{4})\]\([^)]*?(\d{4})-[a-z][\w-]*\.md\)", text, re.IGNORECASE
        )
    ]
    assert links
    assert [link for link in links if link[1] != link[2]] == []
