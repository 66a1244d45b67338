"""Eight yearly extracts lead to the rows of units that are known to come out of them."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import pytest

from catchment_register.upload.job import Request, import_source, open_source
from tests.fixtures.register_driver import Register
from tests.register.unit_support import assert_right, derive, without_reports

SHOWN = """
select unit_type, external_idents ->> 'tax_ident' as tax_ident, valid_from::text,
       case when valid_to = 'infinity' then 'infinity' else valid_to::text end as valid_to, name, birth_date::text,
       physical_region_code, physical_region_path, primary_activity_category_code, primary_activity_category_path,
       legal_form_code, sector_code, stats -> 'employees' ->> 'value' as own_employees,
       stats_summary -> 'employees' ->> 'count' as summary_employees_count,
       stats_summary -> 'employees' ->> 'sum' as summary_employees_sum,
       included_establishment_count::text, included_legal_unit_count::text, included_enterprise_count::text
  from register.statistical_unit
"""


def upload(reg: Register, folder: Path, sort: str, year: int) -> None:
    kind = "legal_unit" if sort == "enheter" else "establishment_formal"
    with open_source(folder / f"{year}-{sort}.csv") as source:
        import_source(reg.conn, source, Request(kind, valid_from=date(year, 1, 1), review=False))
    reg.conn.execute("call worker.drain('import')")


@pytest.mark.parametrize("every_file", [False, True], ids=["at once", "file by file"])
def test_all_rows_are_equal_in_every_column(reg: Register, data: Path, every_file: bool) -> None:
    without_reports(reg)
    for sort in ("enheter", "underenheter"):
        for year in range(2015, 2019):
            upload(reg, data / "norway-small-history", sort, year)
            if every_file:
                derive(reg)
    derive(reg)
    with (data / "expected" / "norway_small_history_statistical_unit.csv").open(encoding="utf-8") as file:
        expected = [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]
    assert len(expected) == 49
    key = ("unit_type", "tax_ident", "valid_from")
    found = sorted(reg.rows(SHOWN), key=lambda r: [r[c] for c in key])
    assert found == sorted(expected, key=lambda r: [r[c] for c in key])
    assert_right(reg)
