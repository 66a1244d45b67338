"""Numbers that no column can hold are refused as what they are."""

from __future__ import annotations

import os

import pytest

from tests.fixtures import spare

HUGE = "99999999999999999999"
# Refused before there is a connection: that would end with code 3.
NOWHERE = os.environ | {"CATCHMENT_DSN": "host=/nowhere", "COLUMNS": "200"}


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["import-job", "show", HUGE], "'ID'"),
        (["import-job", "approve", HUGE], "'ID'"),
        (["import-job", "list", "--limit", HUGE], "'--limit'"),
        (["import-job", "list", "--limit", "-1"], "'--limit'"),
        (["search", "fish", "--limit", HUGE], "'--limit'"),
        (["status", "--rounds", HUGE], "'--rounds'"),
        (["report", "history", "--from", HUGE], "'--from'"),
        (["report", "history", "--to", "-5"], "'--to'"),
        (["edit", "connect", "legal_unit:1", "--enterprise", HUGE], "'--enterprise'"),
        (["import", "x.csv", "--sheet", HUGE], "'--sheet'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_numbers_out_of_range_are_refused_as_what_they_are(arguments: list[str], option: str) -> None:
    done = spare.run("register", *arguments, environment=NOWHERE, timeout=60)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2, done.stderr
    assert f"Invalid value for {option}" in done.stderr
