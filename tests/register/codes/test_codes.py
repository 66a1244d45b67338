"""Code lists: how files are read, and what loading them changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment_register import CodesRefused, RowFixed, SettingRefused
from catchment_register.codes.edition import Edition
from catchment_register.codes.kinds import KINDS, find_kind
from catchment_register.codes.load import Loading, load_codes, load_countries
from catchment_register.codes.read import parse_codes, read_codes
from catchment_register.upload.columns import DATES, read_layout
from catchment_register.upload.columns import KINDS as FILE_KINDS
from tests.fixtures.register_driver import Register
from tests.register.support import message, refused


def load(reg: Register, kind: str, text: str, **options: object) -> Loading:
    found = find_kind(kind)
    return load_codes(reg.conn, found, parse_codes(text.splitlines(keepends=True), found), **options)  # type: ignore[arg-type]


def counts(loading: Loading) -> tuple[int, int, int, int]:
    return loading.added, loading.changed, loading.unchanged, loading.disabled


def problems(loading: Loading) -> list[tuple[int, str]]:
    return [(p.line, p.text) for p in loading.problems]


def test_new_codes_are_added_and_known_ones_corrected(reg: Register) -> None:
    assert counts(load(reg, "unit_size", "code,name\nxl,Huge\ntny,Tiny\n")) == (1, 0, 1, 0)
    assert counts(load(reg, "unit_size", "code,name\nxl,Enormous\ntny,Tiny\n")) == (0, 1, 1, 0)
    assert reg.value("select name from register.unit_size where code = 'xl'") == "Enormous"


def test_replace_disables_what_is_not_in_the_file_and_loading_enables_it_again(reg: Register) -> None:
    assert counts(load(reg, "unit_size", "code,name\ntny,Tiny\n", replaces=True)) == (0, 0, 1, 3)
    assert reg.rows("select code from register.unit_size where enabled") == [{"code": "tny"}]
    assert counts(load(reg, "unit_size", "code,name\nsml,Small\n")) == (0, 1, 0, 0)
    assert reg.value("select enabled from register.unit_size where code = 'sml'")


def test_loading_twice_changes_nothing(reg: Register) -> None:
    text = "path,name,description\nx,X,\nx.1,One,first\n"
    for kind in ("sector", "tag", "region", "activity"):
        load(reg, kind, text)
        assert counts(load(reg, kind, text)) == (0, 0, 2, 0)


def test_a_path_needs_the_broader_one(reg: Register) -> None:
    loading = load(reg, "sector", "path,name\nx.1.2,Deep\ny,Y\ny.1,Y1\nz.1,Z1\n")
    assert counts(loading) == (2, 0, 0, 0)
    assert problems(loading) == [(2, "x.1.2 has no x.1 above it"), (5, "z.1 has no z above it")]
    assert counts(load(reg, "sector", "path,name\ny.2,Y2\n")) == (1, 0, 0, 0)


def test_activities_get_their_broader_ones_and_codes_as_people_write_them(reg: Register) -> None:
    load(reg, "activity", "path,name\nH.49.4.1.0,Freight\n")
    stored = reg.rows(
        "select path, code, code_key, name from register.activity_category where path ~ '^H' order by path"
    )
    assert [tuple(row.values()) for row in stored] == [
        ("H", "H", "", "Transportation and storage"),
        ("H.49", "49", "49", "Land transport and transport via pipelines"),
        ("H.49.4", "49.4", "494", "49.4"),
        ("H.49.4.1", "49.41", "4941", "49.41"),
        ("H.49.4.1.0", "49.410", "49410", "Freight"),
    ]
    load(reg, "activity", "path,name\nH.49.4.1,Road\n")
    assert reg.value("select name from register.activity_category where path = 'H.49.4.1'") == "Road"
    load(reg, "activity", "path,name\nH.49.4.1,Road\n", version="isic_v4")
    assert reg.value("select count(*) from register.activity_category where path = 'H.49.4.1'") == 2


@pytest.mark.parametrize(
    ("pattern", "path", "code"),
    [
        ("digits", "G.47.5.2", "4752"),
        ("dot_after_two_digits", "G.45.1.1.2", "45.112"),
        ("dot_after_two_digits", "G.45", "45"),
        ("digits", "G", "G"),
    ],
)
def test_codes_of_activities_follow_from_their_path(pattern: str, path: str, code: str) -> None:
    assert Edition("standard_id", 1, pattern).shown_code(path) == code


def test_codes_of_paths_are_their_digits(reg: Register) -> None:
    load(reg, "region", "path,name\n1,Europe\n1.047,Norway\n1.047.0301,Oslo\nabc,Elsewhere\n", version="demo")
    stored = reg.rows(
        "select path, code from register.region where path ~ '^(1($|[.])|abc)' and name <> 'x' order by path"
    )
    assert {"path": "1.047.0301", "code": "10470301"} in stored
    assert {"path": "abc", "code": None} in stored


def test_regions_have_versions_and_the_first_is_configured(reg: Register) -> None:
    configured = reg.value("select region_version_id from register.settings")
    assert reg.value("select code from register.region_version where id = %s", configured) == "current"
    before = reg.value("select count(*) from register.region where version_id = %s", configured)
    assert counts(load(reg, "region", "path,name\n46,West\n", version="2030")) == (1, 0, 0, 0)
    assert reg.value("select region_version_id from register.settings") == configured
    assert counts(load(reg, "region", "path,name\n46,West\n", version="2030", replaces=True)) == (0, 0, 1, 0)
    assert reg.value("select count(*) from register.region where version_id = %s and enabled", configured) == before


def test_ordered_codes_join_at_the_end(reg: Register) -> None:
    load(reg, "stat", "code,name,type\nwages,Wages,float\nemployees,Staff,int\nexporter,Exports,bool\n")
    stored = reg.rows("select code, priority from register.stat_definition order by priority")
    assert [row["code"] for row in stored] == ["employees", "turnover", "wages", "exporter"]
    load(reg, "ident_type", "code,name,shape,priority\nvat,VAT number,,9\n")
    assert reg.rows("select shape, priority from register.external_ident_type where code = 'vat'") == [
        {"shape": "regular", "priority": 9}
    ]


def test_another_status_can_become_the_default(reg: Register) -> None:
    text = "code,name,used_for_counting,assigned_by_default\nnew,New,yes,true\nactive,Active,true,\n"
    assert counts(load(reg, "status", text))[0] == 1
    assert reg.rows("select code from register.status where assigned_by_default") == [{"code": "new"}]


def test_the_type_of_a_variable_stays(reg: Register) -> None:
    with pytest.raises(RowFixed, match="type of stat_definition 1 cannot be changed"), reg.conn.transaction():
        load(reg, "stat", "code,name,type\nemployees,Staff,float\n")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("sector", "path,name\nbad path,X\n", [(2, "'bad path' is not a path: letters, digits and _, joined by dots")]),
        ("sector", "path,name\nx,\n", [(2, "name is empty")]),
        ("sector", "path,name\n,X\nok,OK\n", [(2, "path is empty")]),
        (
            "sector",
            "path,name\nx,X,more\nx\n",
            [(2, "it has 3 fields, expected 2"), (3, "it has 1 fields, expected 2")],
        ),
        ("sector", 'path,name\nx,"two\nlines"\nx,Again\n', [(4, "x was there before, in line 2")]),
        ("sector", "path,name\n\n  ,\nx,\n", [(4, "name is empty")]),
        ("status", "code,name,used_for_counting\na,A,perhaps\n", [(2, "'perhaps' is neither true nor false")]),
        ("stat", "code,name,type\na,A,money\n", [(2, "'money' is not one of int, float, string, bool")]),
        ("stat", "code,name,type,priority\na,A,int,high\n", [(2, "'high' is not a whole number from 1 to 2147483647")]),
        (
            "stat",
            "code,name,type,priority\na,A,int,99999999999\n",
            [(2, "'99999999999' is not a whole number from 1 to 2147483647")],
        ),
        ("unit_size", "code,name\na,A\0B\n", [(2, "it contains the byte 0")]),
        ("country", "iso_2,name\nNOR,Norway\n", [(2, "'NOR' is not a code of two letters")]),
    ],
)
def test_a_wrong_row_is_reported_with_its_line(kind: str, text: str, expected: list[tuple[int, str]]) -> None:
    reading = parse_codes(text.splitlines(keepends=True), KINDS[kind])
    assert [(p.line, p.text) for p in reading.problems] == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "lacks the column path, name"),
        ("code,name\n", "lacks the column path"),
        ("path,name,name\n", "has name more than once"),
        ('path,name\nx,"open\n', "is not CSV"),
    ],
)
def test_a_wrong_file_is_refused_as_a_whole(text: str, says: str) -> None:
    with pytest.raises(CodesRefused, match=says):
        parse_codes(text.splitlines(keepends=True), KINDS["sector"])


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_files_may_have_a_mark_and_any_usual_delimiter(tmp_path: Path, delimiter: str) -> None:
    file = tmp_path / "codes.csv"
    file.write_text(f"\ufeffPath{delimiter}Name{delimiter}Other\nx{delimiter}Håndverk{delimiter}1\n", encoding="utf-8")
    reading = read_codes(file, KINDS["sector"])
    assert [(c.key, c.values) for c in reading.codes] == [("x", {"name": "Håndverk"})]


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "codes.csv"
    file.write_bytes("path,name\nx,Håndverk\n".encode("latin-1"))
    with pytest.raises(CodesRefused, match="is not utf-8") as caught:
        read_codes(file, KINDS["sector"])
    assert "--encoding cp1252" in str(caught.value.hint)
    reading = read_codes(file, KINDS["sector"], encoding="latin-1")
    assert [c.values["name"] for c in reading.codes] == ["Håndverk"]
    with pytest.raises(CodesRefused, match="there is no encoding 'klingon'"):
        read_codes(file, KINDS["sector"], encoding="klingon")


def test_activities_above_those_of_a_file_are_called_by_their_names(reg: Register) -> None:
    load(reg, "activity", "path,name\nN.79.1.1,Travel agents\n")
    found = reg.rows("select path, name from register.activity_category where path like 'N%%' order by path")
    assert [(r["path"], r["name"]) for r in found] == [
        ("N", "Administrative and support service activities"),
        ("N.79", "Travel agency, tour operator and reservation service"),
        ("N.79.1", "79.1"),
        ("N.79.1.1", "Travel agents"),
    ]


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    for kind in ("sector", "stat"):
        try:
            reading = parse_codes(text.splitlines(keepends=True), KINDS[kind])
        except CodesRefused:
            continue
        assert len({c.key for c in reading.codes}) == len(reading.codes)


def test_unknown_kinds_versions_and_standards_are_refused(reg: Register) -> None:
    with pytest.raises(CodesRefused, match="no code list 'colour'"):
        find_kind("colour")
    with pytest.raises(SettingRefused, match="sector has no versions"):
        load(reg, "sector", "path,name\nx,X\n", version="2024")
    with pytest.raises(SettingRefused, match="no standard of activities 'sic'") as caught:
        load(reg, "activity", "path,name\nX,X\n", version="sic")
    assert caught.value.hint == "Known are isic_v4, nace_v2.1."


def test_the_countries_of_the_package_are_whole(reg: Register) -> None:
    assert counts(load_countries(reg.conn)) == (0, 0, 250, 0)
    assert reg.value("select count(distinct iso_3) from register.country") == 250


def test_sample_files_load_without_a_problem(reg: Register, data: Path) -> None:
    files = {
        "region": ("demo/regions_demo.csv", 88),
        "sector": ("demo/sectors_demo.csv", 33),
        "legal_form": ("demo/legal_forms_demo.csv", 17),
        "activity": ("demo/activity_custom_isic_demo.csv", 17),
    }
    versions = {"region": "demo", "activity": "isic_v4"}
    for name, (file, expected) in files.items():
        kind = KINDS[name]
        loading = load_codes(reg.conn, kind, read_codes(data / file, kind), version=versions.get(name))
        assert (loading.added, loading.problems) == (expected, ()), name


@pytest.mark.parametrize(
    ("content", "encoding", "says", "hint"),
    [
        ("path,name\n1,One\n".encode("utf-16"), "utf-8", "is UTF-16", "--encoding utf-16"),
        ("path,name\n1,One\n".encode("utf-16-le"), "cp1252", "is UTF-16", "--encoding utf-16"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(512), "utf-8", r"old kind \(.xls\)", "as CSV"),
        (b"PK\x03\x04" + bytes(100), "latin-1", "packed", "as CSV"),
        (b"path,name\n", "hex", "there is no encoding 'hex'", "utf-8"),
        (b"path," + b"x" * 200_000 + b",name\n", "utf-8", "is not CSV: line 1: field larger than", ""),
    ],
)
def test_a_file_that_is_no_text_is_refused_for_what_it_is(
    tmp_path: Path, content: bytes, encoding: str, says: str, hint: str
) -> None:
    file = tmp_path / "codes.csv"
    file.write_bytes(content)
    with pytest.raises(CodesRefused, match=says) as caught:
        read_codes(file, KINDS["region"], encoding=encoding)
    assert hint in (caught.value.hint or "")


def test_codes_in_utf16_are_read_when_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "codes.csv"
    file.write_bytes("path,name\n1,One\n".encode("utf-16"))
    assert [c.key for c in read_codes(file, KINDS["region"], encoding="utf-16").codes] == ["1"]


def test_two_codes_with_one_priority_are_refused(reg: Register) -> None:
    with pytest.raises(CodesRefused, match="two codes of stat would have the same value") as caught:
        load(reg, "stat", "code,name,type,priority\na,A,int,1\n")
    assert "priority" in (caught.value.hint or "")


def _columns_of_files() -> set[str]:
    return {*DATES, *(text for kind in FILE_KINDS.values() for text in kind.texts)}


@pytest.mark.parametrize("kind", ["stat", "ident_type"])
def test_a_code_that_is_a_column_of_import_files_is_skipped(reg: Register, kind: str) -> None:
    extra = ",type\n" if kind == "stat" else "\n"
    value = ",int\n" if kind == "stat" else "\n"
    wanted = [
        *sorted(_columns_of_files()),
        "tax_ident" if kind == "stat" else "employees",
        "legal_unit_tax_ident",
        "ok",
    ]
    loading = load(reg, kind, f"code,name{extra}" + "".join(f"{code},{code}{value}" for code in wanted))
    assert counts(loading) == (1, 0, 0, 0)
    assert [text.split()[0] for _, text in problems(loading)] == wanted[:-1]
    for layout in (read_layout(reg.conn, file_kind) for file_kind in FILE_KINDS.values()):
        named = [*DATES, *layout.kind.texts, *(c for columns in layout.arrays.values() for c in columns)]
        assert len(named) == len(set(named))


@pytest.mark.parametrize(
    ("table", "columns"), [("stat_definition", {"type": "int"}), ("external_ident_type", dict[str, str]())]
)
def test_plain_sql_cannot_make_a_code_that_is_a_column_of_import_files(
    reg: Register, table: str, columns: dict[str, str]
) -> None:
    with refused(reg, "RG016") as caught:
        reg.insert(table, code="valid_from", name="V", priority=9, **columns)
    assert message(caught) == (
        f"{table} cannot have the code valid_from: the column valid_from of import files is for something else"
    )
    reg.insert(table, code="valid_from", name="V", priority=9, enabled=False, **columns)
    with refused(reg, "RG016"):
        reg.conn.execute(f"update register.{table} set enabled = true where code = 'valid_from'")


def test_an_identifier_whose_prefixed_column_is_a_statistic_is_skipped(reg: Register) -> None:
    load(reg, "stat", "code,name,type\ninfluencing_x,X,int\n")
    assert problems(load(reg, "ident_type", "code,name\nx,X\n")) == [
        (2, "x cannot be a code: the column influencing_x of import files is for the statistic influencing_x")
    ]
