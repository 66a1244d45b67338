"""Every command of dynamic tables at 60, 80 and 200 columns, in a pipe, and as JSON by its schema."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from catchment.cli.answers import ANSWERS
from tests.cli.walk.commands import check_complete
from tests.cli.walk.furnished import SLOTS
from tests.cli.walk.walk import Walk, Words
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.table_cli import SETTINGS

LONG = "revenue_of_every_region_and_product_group_by_month_without_returns"
SELECT = "SELECT region, sum(amount) AS amount FROM orders GROUP BY region"
# What comes behind the words of a command: each in every width. {slot} is different each time.
CASES: dict[str, list[Words]] = {
    "table init": [()],
    "table create": [("new_{slot}.sql", "--no-wait")],
    "table load": [("*.csv", "--into", "loaded_{slot}")],
    "table sql": [("SELECT *, repeat('long ', 60) AS words FROM orders",), ("SELECT id FROM orders WHERE false",)],
    "table list": [()],
    "table describe": [(LONG,), ("new_json",), ("bad",)],
    "table explain": [(LONG,), ("top",), ("--file", "refused.sql")],
    "table why": [(LONG,), ("new_json",), ("bad",)],
    "table history": [(), ("--with-idle",), ("--state", "nothing")],
    "table lag": [()],
    "table graph": [()],
    "table audit": [(LONG, "top")],
    "table attach": [()],
    "table refresh": [(LONG,), ("bad",), ("top", "--no-wait")],
    "table cancel": [("top",)],
    "table suspend": [(LONG,)],
    "table resume": [(LONG,)],
    "table alter": [(LONG, "--set", "TARGET_LAG=10 minutes")],
    "table maintain": [("top", "--expire-days", "1")],
    "table drop": [("new_{slot}",), ("new_{slot}", "--if-exists")],
}
# Their codes may be 1: a refresh failed, a statement was refused.
MAY_FAIL = {"table refresh", "table explain"}


def test_every_command_prints_json_and_has_a_schema_and_a_case() -> None:
    check_complete(ANSWERS, CASES, {"table worker"}, under="table ")


@pytest.mark.parametrize(("widths", "most"), [((), 1), pytest.param((None, 60, 80, 200), None, marks=pytest.mark.long)])
def test_every_command_in_every_width_and_as_json(
    lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, widths: Sequence[int | None], most: int | None
) -> None:
    for name, value in {**SETTINGS, "CATCHMENT_DSN": lake_case.dsn}.items():
        monkeypatch.setenv(name, value)
    _furnish(lake_case, tmp_path)
    monkeypatch.chdir(tmp_path)
    walk = Walk(
        CASES,
        ANSWERS,
        lambda part, slot: part.replace("{slot}", slot),
        MAY_FAIL,
        {"table history": "id"},
        may_sleep=True,
    )
    problems = walk.problems(monkeypatch, widths, most=most)
    assert not problems, "\n".join(problems)


def _furnish(lake: LakeCase, folder: Path) -> None:
    """Tables that are filled, that fail, and that are refreshed in full; and files."""
    lake.make("orders", "id BIGINT, region VARCHAR, amount DECIMAL(10,2)", [(1, "n", 5), (2, "n", 7), (3, "s", 1)])
    lake.create(f"CREATE DYNAMIC TABLE {LONG} TARGET_LAG = '5 minutes' COMMENT = '{'by region ' * 20}' AS {SELECT}")
    lake.create(f"CREATE DYNAMIC TABLE top TARGET_LAG = DOWNSTREAM AS SELECT region FROM {LONG} ORDER BY ALL LIMIT 1")
    lake.create("CREATE DYNAMIC TABLE bad TARGET_LAG = '1 h' AS SELECT CAST(region AS INTEGER) AS r FROM orders")
    lake.refresh("top")
    for slot in SLOTS:
        text = f"CREATE DYNAMIC TABLE new_{slot} TARGET_LAG = '1 hour' AS {SELECT};"
        (folder / f"new_{slot}.sql").write_text(text)
    refused = f"CREATE DYNAMIC TABLE a TARGET_LAG = '1 h' AS {SELECT};\nCREATE DYNAMIC TABLE b AS SELECT random();"
    (folder / "refused.sql").write_text(refused)
    (folder / "one.csv").write_text("id,name\n1,One\n2,Two\n")
