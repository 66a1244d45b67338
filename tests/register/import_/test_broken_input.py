"""Files as the world sends them: whatever is wrong with a row is told, the others come in, and nothing is half done."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from catchment_register import JobRefused, MappingRefused
from catchment_register.upload.job import Request, import_source, open_source
from catchment_register.upload.source import Source, SourceRow
from tests.fixtures.register_driver import Register, RegisterDatabase

HEADER = b"tax_ident,name,physical_region_code,employees\n"
GOOD = (b"1,One,0301,5\n", b'2,"Two, and more",4626,\n', b"3,Three,,7\n")


def import_bytes(reg: Register, file: Path, content: bytes, **options: Any) -> int:
    file.write_bytes(content)
    with open_source(file) as source:
        request = Request("legal_unit", **({"valid_from": date(2020, 1, 1), "review": False} | options))
        job = import_source(reg.conn, source, request).job_id
    reg.conn.execute("call worker.drain('import')")
    return job


def names(reg: Register) -> list[str]:
    return [r["name"] for r in reg.rows("select name from register.legal_unit order by name")]


@pytest.mark.parametrize(
    ("broken", "column"),
    [
        (b"x", "*"),
        (b"x,1,2,3,4", "*"),
        (b"x,\xff\xfe,0301,1", "*"),
        (b'x,"never closed,0301,1', "*"),
        (b"x,zero\x00byte,0301,1", "*"),
        (b"x,,0301,1", "name"),
        (b",Nobody,0301,1", "tax_ident"),
        (b"x,Name,0301,many", "employees"),
        (b"x,Name,0301,99999999999999999999", "employees"),
    ],
)
def test_one_broken_row_is_reported_and_the_others_are_imported(
    reg: Register, tmp_path: Path, broken: bytes, column: str
) -> None:
    content = HEADER + GOOD[0] + GOOD[1] + broken + b"\n" + GOOD[2]
    job = import_bytes(reg, tmp_path / "file.csv", content)
    assert reg.job(job)["state"] == "finished"
    errors = reg.import_errors(job)
    assert {n: set(e) for n, e in errors.items()} == {3: {column}}
    assert names(reg) == ["One", "Three", "Two, and more"]
    for table in ("enterprise", "external_ident"):
        assert reg.value(f"select count(*) from register.{table}") == 3
    assert reg.value("select count(*) from register.stat_for_unit") == 2
    reg.check()


def test_text_with_every_special_character_arrives_as_it_was(reg: Register, tmp_path: Path) -> None:
    odd = 'tab\there, back\\slash, "quote", line\nbreak, {brace}, ÆØÅ €, NULL, \\N'
    quoted = odd.replace('"', '""')
    job = import_bytes(reg, tmp_path / "file.csv", HEADER + f'1,"{quoted}",0301,5\n'.encode())
    assert reg.import_errors(job) == {}
    assert names(reg) == [odd]


def test_an_identifier_with_special_characters_finds_its_unit_again(reg: Register, tmp_path: Path) -> None:
    for name in ("before", "after"):
        import_bytes(reg, tmp_path / "file.csv", HEADER + f'"a\\b ""c"" {{d}},e",{name},,\n'.encode())
    assert names(reg) == ["after"]
    assert reg.value("select ident from register.external_ident") == 'a\\b "c" {d},e'


def test_wrong_headers_make_no_job(reg: Register, tmp_path: Path) -> None:
    with pytest.raises(MappingRefused, match="the file lacks name, tax_ident or stat_ident"):
        import_bytes(reg, tmp_path / "file.csv", b"number,title\n1,One\n")
    assert reg.value("select count(*) from register.import_job") == 0


def test_a_job_without_any_dates_is_refused_and_leaves_nothing(reg: Register, tmp_path: Path) -> None:
    with pytest.raises(JobRefused, match="takes its dates from the job"), reg.conn.transaction():
        import_bytes(reg, tmp_path / "file.csv", HEADER + GOOD[0], valid_from=None)
    assert reg.value("select count(*) from register.import_job") == 0


def test_a_header_without_rows_imports_nothing(reg: Register, tmp_path: Path) -> None:
    job = import_bytes(reg, tmp_path / "file.csv", HEADER)
    assert (reg.job(job)["state"], reg.job(job)["total_rows"]) == ("finished", 0)


def test_an_upload_that_breaks_off_leaves_no_rows(reg_db: RegisterDatabase) -> None:
    def rows() -> Any:
        yield SourceRow(1, ["1", "One"])
        raise ConnectionError("the file went away")

    with pytest.raises(ConnectionError):
        import_source(
            reg_db.conn, Source(["tax_ident", "name"], rows()), Request("legal_unit", valid_from=date(2020, 1, 1))
        )
    assert reg_db.value("select state from register.import_job") == "waiting_for_upload"
    assert reg_db.value("select count(*) from register.import_upload") == 0
    assert reg_db.pending("import_job_process") == 0


def test_nothing_but_rubbish_is_a_report_and_no_unit(reg: Register, tmp_path: Path) -> None:
    rubbish = b"".join(bytes([n, 255 - n, 44, 34, n]) + b"\n" for n in range(1, 200))
    job = import_bytes(reg, tmp_path / "file.csv", HEADER + rubbish)
    done = reg.job(job)
    assert done["state"] == "finished"
    assert done["error_rows"] == done["total_rows"] > 0
    assert names(reg) == []
    reg.check()
