"""Reading files: every way a row can be broken, which column is which, and memory that does not grow."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

import pytest

from catchment_register import FileRefused, MappingRefused
from catchment_register.upload.columns import KINDS, Layout, find_kind
from catchment_register.upload.csv_rows import MAX_LINE, open_csv
from catchment_register.upload.excel_rows import open_excel
from catchment_register.upload.job import open_source
from catchment_register.upload.mapping import Mapping, choose_mapping, find_mapping, parse_mapping, ready_made
from catchment_register.upload.permute import Permuter
from catchment_register.upload.source import SourceRow

LAYOUT = Layout(KINDS["legal_unit"], ("tax_ident", "stat_ident"), ("employees",))
TOO_LONG = "the row is longer than 1048576 bytes"


def read(tmp_path: Path, content: bytes, **options: str) -> list[tuple[int, list[str] | str]]:
    file = tmp_path / "file.csv"
    file.write_bytes(content)
    with open_csv(file, **options) as source:
        return [(r.number, r.problem or list(r.fields)) for r in source.rows]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\n1,2\n3,4", [(1, ["1", "2"]), (2, ["3", "4"])]),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", [(1, ["1", "2"])]),
        (b"a;b\n1;2,5\n", [(1, ["1", "2,5"])]),
        (b"a\tb\n1\t2\n", [(1, ["1", "2"])]),
        (b"a,b\n\n1,2\n   \n", [(2, ["1", "2"])]),
        (b'a,b\n"x, y","say ""hi"""\n', [(1, ["x, y", 'say "hi"'])]),
        (b'a,b\n1,"two\n\nlines"\n3,4\n', [(1, ["1", "two\n\nlines"]), (2, ["3", "4"])]),
        (b'a,b\n5" pipe,2\n', [(1, ['5" pipe', "2"])]),
        (b"a,b\n", []),
    ],
)
def test_rows_are_read(tmp_path: Path, content: bytes, expected: object) -> None:
    assert read(tmp_path, content) == expected


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (b"1", "the row has 1 fields, the header 2"),
        (b"1,2,3", "the row has 3 fields, the header 2"),
        (b"1,\xe6", "the row is not utf-8: byte 0xe6 at 3"),
        (b'"\xe6",2', "the row is not utf-8: byte 0xe6 at 2"),
        (b"1,\x00", "the row contains the byte 0"),
        (b'1,"open', "a quote is not closed"),
        (b'1,"a"b', "a quote is out of place: ',' expected after '\"'"),
        (b"1," + b"y" * (MAX_LINE - 2) + b"9,Ghost", TOO_LONG),
        (b"1," + b"y" * (3 * MAX_LINE) + b'9,"Ghost', TOO_LONG),
        (b" " * (2 * MAX_LINE) + b"9,Ghost", TOO_LONG),
    ],
    ids=lambda value: value[:40],
)
def test_a_broken_row_is_reported_and_the_next_ones_are_read(tmp_path: Path, broken: bytes, says: str) -> None:
    for after in (b"8,9", b'"8","9"'):
        content = b"a,b\n5,6\n" + broken + b"\n" + after + b"\n" + after + b"\n"
        assert read(tmp_path, content) == [(1, ["5", "6"]), (2, says), (3, ["8", "9"]), (4, ["8", "9"])]


def test_a_line_may_be_as_long_as_the_limit_and_no_row_goes_on_into_a_longer_one(tmp_path: Path) -> None:
    longest = b"1," + b"y" * (MAX_LINE - 3)
    [(_, read_whole), (_, last)] = read(tmp_path, b"a,b\n" + longest + b"\n1,2" + b"y" * (MAX_LINE - 3))
    assert [len(fields[1]) for fields in (read_whole, last)] == [MAX_LINE - 3, MAX_LINE - 2]
    content = b'a,b\n1,"open\n' + b"y" * MAX_LINE + b'y"\n8,9\n'
    assert read(tmp_path, content) == [(1, "a quote is not closed"), (2, TOO_LONG), (3, ["8", "9"])]


def test_another_encoding_can_be_named(tmp_path: Path) -> None:
    content = "navn,sted\nØrn,Tromsø\n".encode("latin-1")
    assert read(tmp_path, content, encoding="latin-1") == [(1, ["Ørn", "Tromsø"])]


def test_a_file_in_another_encoding_is_one_problem_and_not_one_of_each_row(tmp_path: Path) -> None:
    content = "navn,sted\n" + "Ørn,Oslo\nAs,Tromsø\nBo,Bergen\n" * 3
    for encoding in ("latin-1", "cp1252"):
        with pytest.raises(FileRefused, match="6 of its first 10 lines are not utf-8") as caught:
            read(tmp_path, content.encode(encoding))
        assert "--encoding cp1252" in str(caught.value.hint)
    one = ("navn,sted\n" + "As,Oslo\n" * 5).encode() + "Ørn,Oslo\n".encode("latin-1")
    assert [type(fields) for _, fields in read(tmp_path, one)] == [list] * 5 + [str], "one row is a row that is broken"


def test_numbers_of_rows_count_blank_ones(tmp_path: Path) -> None:
    assert read(tmp_path, b"a,b\n1,2\n\n\n3,4\n5\n\n6,7\n") == [
        (1, ["1", "2"]),
        (4, ["3", "4"]),
        (5, "the row has 1 fields, the header 2"),
        (7, ["6", "7"]),
    ]


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        (b"", {}, "it is empty"),
        (b"\xff\xfea\x00", {}, "it is UTF-16"),
        ("tax_ident,name\n1,One\n".encode("utf-16-le"), {}, "it is UTF-16"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(512), {}, r"an Excel file of the old kind \(.xls\)"),
        (b"PK\x03\x04" + bytes(100), {}, "it is no CSV file but a packed one"),
        (b"\xe6,b\n", {}, "its header is not utf-8"),
        (b"a" * (MAX_LINE + 1), {}, "its header is longer than 1048576 bytes"),
        (b"a,b\n", {"encoding": "klingon"}, "there is no encoding 'klingon'"),
        (b"a,b\n", {"encoding": "hex"}, "there is no encoding 'hex'"),
        (b"a,b\r1,2\r", {}, "its lines end with CR alone"),
        (b"a," + b"x" * 200_000 + b"\n", {}, "its header is not CSV: field larger than field limit"),
    ],
)
def test_a_file_without_a_header_is_refused(tmp_path: Path, content: bytes, options: dict[str, str], says: str) -> None:
    with pytest.raises(FileRefused, match=says):
        read(tmp_path, content, **options)
    with pytest.raises(FileRefused, match="No such file"), open_source(tmp_path / "none.csv"):
        pass


def test_a_sheet_is_read_as_a_csv_file_would_be(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["tax_ident", "name", "birth_date", "employees", "turnover", None])
    book.active.append([123.0, "Ørn", datetime(2020, 2, 3), 5, 1.5, None])
    book.active.append([None] * 6)
    book.active.append(["0456", True, date(2020, 2, 4), None, None, None])
    book.active.append(["7", "n", None, None, None, None, "beyond"])
    book.save(tmp_path / "file.xlsx")
    with open_source(tmp_path / "file.xlsx") as source:
        rows = [(r.number, r.problem or list(r.fields)) for r in source.rows]
    assert source.headers == ["tax_ident", "name", "birth_date", "employees", "turnover"]
    assert rows == [
        (1, ["123", "Ørn", "2020-02-03", "5", "1.5"]),
        (3, ["0456", "true", "2020-02-04", "", ""]),
        (4, "the row has more than 5 fields"),
    ]
    with pytest.raises(FileRefused, match="it has 1 sheets, not 2"), open_excel(tmp_path / "file.xlsx", sheet=2):
        pass
    (tmp_path / "no.xlsx").write_text("a,b")
    with pytest.raises(FileRefused, match="it is not an Excel file"), open_excel(tmp_path / "no.xlsx"):
        pass


def test_our_own_columns_are_taken_as_they_are(tmp_path: Path) -> None:
    choice = choose_mapping(["tax_ident", "name", "employees", "colour"], LAYOUT)
    assert dict(choice.mapping.columns) == {"tax_ident": "tax_ident", "name": "name", "employees": "employees"}
    assert (choice.ignored, choice.has_dates) == (("colour",), False)
    assert choose_mapping(["tax_ident", "name", "valid_from"], LAYOUT).has_dates


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        (["tax_ident"], "the file lacks name; it has tax_ident"),
        (["name"], "the file lacks tax_ident or stat_ident"),
        (["tax_ident", "name", "valid_to"], "the file lacks valid_from"),
        (["tax_ident", "tax_ident", "name"], "the file has several columns tax_ident"),
        (["", ""], "the file has no header"),
    ],
)
def test_wrong_headers_are_refused_before_there_is_a_job(headers: list[str], says: str) -> None:
    with pytest.raises(MappingRefused, match=says):
        choose_mapping(headers, LAYOUT)


def test_an_update_may_leave_out_what_is_known() -> None:
    assert choose_mapping(["tax_ident", "employees"], LAYOUT, strategy="update_only")
    formal = Layout(KINDS["establishment_formal"], ("tax_ident",), ())
    assert choose_mapping(["tax_ident"], formal, strategy="update_only")
    with pytest.raises(MappingRefused, match="lacks name, legal_unit_tax_ident"):
        choose_mapping(["tax_ident"], formal)


@pytest.mark.parametrize(
    ("kind", "file", "name"),
    [
        ("legal_unit", "norway-small-history/2015-enheter.csv", "norway_legal_unit"),
        ("establishment_formal", "norway-history/2018-underenheter.csv", "norway_establishment"),
    ],
)
def test_known_layouts_are_recognised(data: Path, kind: str, file: str, name: str) -> None:
    layout = Layout(KINDS[kind], ("tax_ident",), ("employees",))
    with open_source(data / file) as source:
        assert choose_mapping(source.headers, layout).mapping.name == name


def test_every_ready_made_mapping_names_columns_of_ours() -> None:
    assert ready_made()
    for mapping in ready_made():
        layout = Layout(find_kind(mapping.kind or ""), ("tax_ident",), ("employees",))
        assert choose_mapping(list(mapping.columns.values()), layout, given=mapping).ignored == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[columns", "is not TOML"),
        ("[colours]\na = 1", "has colours"),
        ("kind = 'x'", "is for the kind 'x'"),
        ("[columns]\nname = 1", "name in \\[columns\\] of the mapping m is not a text"),
        ("columns = 1", "is not a table"),
    ],
)
def test_an_invalid_mapping_is_refused(text: str, says: str) -> None:
    with pytest.raises(MappingRefused, match=says):
        parse_mapping(text, "m")


def test_a_mapping_has_to_fit_the_kind_and_the_file(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text('[columns]\ntax_ident = "nr"\nname = "navn"\n[values]\nstatus_code = "active"\n')
    mapping = find_mapping(str(tmp_path / "m.toml"))
    assert choose_mapping(["nr", "navn"], LAYOUT, given=mapping).mapping is mapping
    with pytest.raises(MappingRefused, match="reads navn, which the file does not have"):
        choose_mapping(["nr"], LAYOUT, given=mapping)
    with pytest.raises(MappingRefused, match="has no column colour"):
        choose_mapping(["nr"], LAYOUT, given=Mapping("m", {"colour": "nr"}))
    with pytest.raises(MappingRefused, match="lacks name"):
        choose_mapping(["nr"], LAYOUT, given=Mapping("m", {"tax_ident": "nr"}))
    with pytest.raises(MappingRefused, match="cannot be read"):
        find_mapping(str(tmp_path / "none.toml"))


def test_a_line_holds_what_the_row_said_whatever_is_in_it() -> None:
    mapping = Mapping(
        "m",
        {"tax_ident": "id", "name": "n", "employees": "e", "physical_address_part1": "a"},
        {"stat_ident": 'S"1'},
        {"physical_address_part1": "/n"},
    )
    permuter = Permuter(7, ["id", "n", "e", "a"], mapping, LAYOUT)
    line = permuter.line(SourceRow(3, [" 1 ", "tab\there\\", "", "c/o X/n Street 1/nfloor/nroom"]))
    cells = dict(zip(permuter.columns, line.rstrip("\n").split("\t"), strict=True))
    assert cells == {
        "job_id": "7",
        "row_no": "3",
        "problem": "\\N",
        "name": "tab\\there\\\\",
        "physical_address_part1": "c/o X",
        "physical_address_part2": "Street 1",
        "physical_address_part3": "floor, room",
        "ident": '{1,"S\\\\"1"}',
        "stat": "{NULL}",
    }
    broken = permuter.line(SourceRow(4, (), 'a "quote" is open')).split("\t")
    assert broken[:3] == ["7", "4", '{"*": "a \\\\"quote\\\\" is open"}']
    assert {x.strip() for x in broken[3:]} == {"\\N"}


PEAK = """
import sys
from pathlib import Path
from catchment_register.upload.columns import KINDS, Layout
from catchment_register.upload.job import open_source, _pieces
from catchment_register.upload.mapping import choose_mapping
from catchment_register.upload.permute import Permuter
layout = Layout(KINDS["legal_unit"], ("tax_ident",), ("employees",))
def peak():
    # Not ru_maxrss: that of a child begins with what its parent had.
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before = peak()
with open_source(Path(sys.argv[1])) as source:
    permuter = Permuter(1, source.headers, choose_mapping(source.headers, layout).mapping, layout)
    size = sum(len(piece) for piece in _pieces(permuter, source.rows, lambda _: None))
print(size, peak() - before)
"""


def stream(file: Path) -> tuple[int, int]:
    """Bytes sent, and by how many kilobytes memory grew."""
    done = subprocess.run([sys.executable, "-c", PEAK, str(file)], capture_output=True, text=True, check=True)
    size, grown = map(int, done.stdout.split())
    return size, grown


def write_rows(file: Path, megabytes: int) -> None:
    row = "".join(f'{n:09},"Name {n}, of some length and no meaning at all",{n % 90}\n' for n in range(20_000))
    with file.open("w") as out:
        out.write("tax_ident,name,employees\n")
        for _ in range(megabytes * 1_000_000 // len(row) + 1):
            out.write(row)


@pytest.mark.long
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    write_rows(tmp_path / "file.csv", 6)
    size, grown = stream(tmp_path / "file.csv")
    assert size > 5_000_000
    assert grown < 8_000
