"""``catchment register report`` and ``search`` as a person or a script runs them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from catchment.commands import output
from catchment_register import RegisterError
from catchment_register.cli.main import app
from tests.fixtures.often import some, some_rows
from tests.fixtures.register import opened
from tests.fixtures.register_driver import RegisterDatabase
from tests.fixtures.server import cloned


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output.console, "_width", 200)


@pytest.fixture(scope="module")
def told(server: str, register_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegisterDatabase]:
    """A small register, derived once: nobody changes it here."""
    with cloned(server, register_template) as dsn, opened(dsn, tmp_path_factory.mktemp("told")) as made:
        _fill(made)
        yield made


def _fill(reg_db: RegisterDatabase) -> None:
    with reg_db.conn.transaction():
        reg_db.lu("910000001", "2024-01-01", name="Nordic Fish AS", legal_form="AS", region="03.01", activity="A.01.1")
        reg_db.stat("910000001", "employees", 12, "2024-01-01")
        reg_db.lu("910000002", "2024-06-01", name="Fishing Tools AS", legal_form="AS", region="11.03", employees=3)
        reg_db.lu(
            "910000003", "2023-01-01", name="[bold]Odd[/bold] name", birth_date="2023-01-01", death_date="2025-03-03"
        )
        reg_db.es("910000004", "910000001", "2024-01-01", name="Nordic Fish, Oslo", employees=5)
        reg_db.conn.execute(
            "update register.enterprise set short_name = 'Holding' where id = %s", [reg_db.enterprise_of("910000003")]
        )
        reg_db.relate("910000002", "910000001", "2024-06-01")
    reg_db.derive()


def run(reg: RegisterDatabase, *arguments: str) -> str:
    """What a verb prints; run in this process, which is quicker."""
    done = CliRunner().invoke(app, [*arguments, "--dsn", reg.dsn])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def read(reg: RegisterDatabase, *arguments: str) -> Any:
    return json.loads(run(reg, *arguments, "--json"))


def found(reg: RegisterDatabase, *arguments: str) -> list[tuple[str, str]]:
    return [(r["unit_type"], r["name"]) for r in read(reg, "search", *arguments)]


def test_history_as_a_table_and_as_json(told: RegisterDatabase) -> None:
    rows = read(told, "report", "history")
    assert [(r["period"], r["countable_count"]) for r in rows] == [("2023", 1), ("2024", 3), ("2025", 2), ("2026", 2)]
    text = run(told, "report", "history", "--measure", "deaths", "--from", "2025")
    assert [line.split() for line in text.splitlines()] == [["period", "deaths"], ["2025", "1"], ["2026", "0"]]
    months = read(told, "report", "history", "--resolution", "year-month", "--from", "2026")
    assert [r["period"] for r in months] == ["2026-01", "2026-02"]


def test_history_as_a_chart(told: RegisterDatabase) -> None:
    text = run(told, "report", "history", "--chart", "--measure", "countable_count", "--measure", "deaths")
    assert text.startswith("Legal units, 2023 to 2026\n")
    assert text.index("Units at the end of the year") < text.index("counted") < text.index("Units in the year")
    assert "\n2026: until 13 February 2026" in text
    assert "2023" in text
    assert any("⠀" <= c <= "⣿" for c in text), "braille dots"


@pytest.mark.parametrize(("name", "magic"), [("history.png", b"\x89PNG"), ("history.svg", b"<?xml")])
def test_history_as_a_picture(told: RegisterDatabase, tmp_path: Path, name: str, magic: bytes) -> None:
    run(told, "report", "history", "--plot", str(tmp_path / name))
    assert (tmp_path / name).read_bytes().startswith(magic)
    run(told, "report", "demography", "--plot", str(tmp_path / name))
    assert (tmp_path / name).read_bytes().startswith(magic)


def test_history_as_csv(told: RegisterDatabase, tmp_path: Path) -> None:
    run(told, "report", "history", "--csv", str(tmp_path / "h.csv"))
    with (tmp_path / "h.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [r["exists_count"] for r in rows] == ["1", "3", "2", "2"]
    assert [r["employees"] for r in rows] == ["", "20", "20", "20"]
    assert json.loads(rows[1]["stats_summary"])["employees"]["sum"] == 20


def test_history_shows_the_sums_of_statistics(told: RegisterDatabase) -> None:
    lines = [line.split() for line in run(told, "report", "history").splitlines()]
    assert lines[0][-1] == "employees"
    assert [line[-1] for line in lines[2:]] == ["20", "20", "20"]
    text = run(told, "report", "history", "--measure", "employees", "--from", "2024")
    assert [line.split() for line in text.splitlines()][1] == ["2024", "20"]


def test_a_hint_for_an_unknown_status_names_those_there_are(told: RegisterDatabase) -> None:
    with pytest.raises(RegisterError) as caught:
        run(told, "report", "facets", "--status", "XX")
    assert caught.value.hint == "There are active, passive."


def test_sums_of_many_digits_are_exact(reg_db: RegisterDatabase, tmp_path: Path) -> None:
    with reg_db.conn.transaction():
        reg_db.lu("1", "2025-01-01", turnover=999_999_999_999_999)
        reg_db.lu("2", "2025-01-01", turnover=1.75)
    reg_db.derive()
    assert "1000000000000000.75" in run(reg_db, "report", "history")
    assert read(reg_db, "report", "history")[0]["stats_summary"]["turnover"]["sum"] == "1000000000000000.75"
    run(reg_db, "report", "history", "--csv", str(tmp_path / "h.csv"))
    with (tmp_path / "h.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["turnover"] == "1000000000000000.75"


def test_years_without_history_are_not_a_register_without_history(told: RegisterDatabase) -> None:
    assert run(told, "report", "history", "--from", "2050") == "There is no history in these years.\n"


def test_numbers_are_numbers_in_json(told: RegisterDatabase) -> None:
    for row in read(told, "report", "demography"):
        assert {type(v) for v in row.values()} <= {int, float, type(None)}
    assert {type(r["survival_pct"]) for r in read(told, "report", "demography")} == {float, type(None)}
    assert {type(r["employees"]) for r in read(told, "search", "fish")} == {int}
    assert {type(r["seconds"]) for r in read(told, "status")["rounds"]} == {float}


def test_demography(told: RegisterDatabase) -> None:
    rows = {r["year"]: r for r in read(told, "report", "demography")}
    assert (rows[2023]["births"], rows[2023]["born_then"], rows[2023]["alive_today"]) == (1, 1, 0)
    assert (rows[2025]["deaths"], rows[2025]["natural_change"]) == (1, -1)


def test_survival_counts_deaths_and_no_corrections(reg_db: RegisterDatabase, tmp_path: Path) -> None:
    with reg_db.conn.transaction():
        # The birth is corrected to the year before; what was written stays written.
        reg_db.lu("1", "2020-01-01", "2021-01-01", birth_date="2020-02-01")
        reg_db.lu("1", "2021-01-01", birth_date="2019-12-01")
        # Two that stop counting, or end in the register, are not dead for that. The other two are dead.
        reg_db.lu("2", "2021-01-01", "2022-01-01", birth_date="2021-01-01")
        reg_db.lu("2", "2022-01-01", status="passive", birth_date="2021-01-01")
        reg_db.lu("3", "2021-01-01", "2023-01-01", birth_date="2021-01-01")
        reg_db.lu("4", "2021-01-01", "2022-01-01", birth_date="2021-01-01")
        reg_db.lu("4", "2022-01-01", birth_date="2021-01-01", death_date="2022-05-01")
        reg_db.lu("5", "2021-01-01", "2022-01-01", birth_date="2021-01-01", death_date="2021-12-31")
        # The register learnt of no birth any more, and not of a death either.
        reg_db.lu("6", "2021-01-01", "2022-01-01", birth_date="2021-06-01")
        reg_db.lu("6", "2022-01-01")
        # A death that is to come, and one that was taken back.
        reg_db.lu("7", "2022-01-01", birth_date="2022-01-01", death_date="2030-01-01")
        reg_db.lu("8", "2022-01-01", "2023-01-01", birth_date="2022-01-01", death_date="2022-12-31")
        reg_db.lu("8", "2023-01-01", birth_date="2022-01-01")
    reg_db.derive()
    rows = {r["year"]: r for r in read(reg_db, "report", "demography")}
    shown = ("born_then", "alive_today", "ended_alive")
    assert {year: tuple(row[c] for c in shown) for year, row in rows.items()} == {
        None: (1, 1, 0),
        2020: (None, None, None),
        2021: (5, 3, 1),
        2022: (2, 2, 0),
        **dict.fromkeys(range(2023, 2027), (None, None, None)),
    }
    assert [float(rows[year]["survival_pct"]) for year in (2021, 2022)] == [60, 100]
    assert run(reg_db, "report", "demography").splitlines()[1].split() == ["earlier", "1", "1", "100.0", "0"]
    run(reg_db, "report", "demography", "--plot", str(tmp_path / "d.svg"))


def test_facets_on_a_day(told: RegisterDatabase) -> None:
    found = read(told, "report", "facets", "--at", "2025-01-01")
    assert found["count"] == 3
    assert {row["key"] for row in found["next"]["physical_region"]} == {"03", "11"}
    text = run(told, "report", "facets", "--at", "2025-01-01", "--region", "03", "--legal-form", "AS")
    assert text.startswith("1 units of type legal_unit on 2025-01-01")
    assert "employees: 17 in all" in text, "its own and those of its establishment"
    assert run(told, "report", "facets").startswith("3 units of type legal_unit on 2026-02-13"), "today"


def test_one_unit_in_time(told: RegisterDatabase) -> None:
    assert "Nordic Fish AS" in run(told, "report", "unit", "910000001")
    rows = read(told, "report", "unit", "tax_ident:910000004")
    assert [(r["unit_type"], r["name"]) for r in rows] == [("establishment", "Nordic Fish, Oslo")]
    assert "[bold]Odd[/bold] name" in run(told, "report", "unit", "910000003"), "a name is not markup"


def test_rows_of_a_unit_can_be_distinguished(reg_db: RegisterDatabase) -> None:
    with reg_db.conn.transaction():
        reg_db.lu("1", "2023-01-01", "2024-01-01", sector="2100")
        reg_db.lu("1", "2024-01-01", "2025-01-01", sector="8200")
        reg_db.lu("1", "2025-01-01", sector="8200", birth_date="2022-02-02")
        reg_db.stat("1", "turnover", 5, "2025-06-01")
        reg_db.es("11", "1", "2025-09-01")
    reg_db.derive()
    lines = [line.split()[2:] for line in run(reg_db, "report", "unit", "1").splitlines()[2:]]
    assert len(lines) == 5
    assert len({tuple(line) for line in lines}) == 5, lines


def test_what_is_printed_fits_a_narrow_terminal(told: RegisterDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(output.console, "_width", 80)
    monkeypatch.setenv("COLUMNS", "80")
    shown = (["search", "fish"], ["report", "history"], ["report", "demography"], ["report", "unit", "910000001"])
    for arguments in (*shown, ["report", "facets"]):
        text = run(told, *arguments)
        assert "…" not in text, text
        assert max(map(len, text.splitlines())) <= 80, text
    lines = (run(told, "search", "fish") + run(told, "report", "facets")).splitlines()
    assert any(line.startswith("legal_unit/1 ") and "Nordic Fish AS" in line for line in lines)
    assert any("Rogaland" in line and "██" in line for line in lines), "bars stand beside what they are of"


def test_units_as_a_file(told: RegisterDatabase, tmp_path: Path) -> None:
    assert run(told, "report", "units", str(tmp_path / "all.csv")).startswith("8 rows written to ")
    with (tmp_path / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    fish = next(r for r in rows if r["unit_type"] == "legal_unit" and r["name"] == "Nordic Fish AS")
    assert (fish["valid_from"], fish["valid_until"], fish["physical_region_path"]) == ("2024-01-01", "", "03.01")
    assert json.loads(fish["stats_summary"])["employees"]["sum"] == 17
    run(told, "report", "units", str(tmp_path / "some.csv"), "--unit-type", "legal_unit", "--at", "2023-06-01")
    with (tmp_path / "some.csv").open(newline="") as file:
        assert [r["name"] for r in csv.DictReader(file)] == ["[bold]Odd[/bold] name"]


def test_units_as_parquet(told: RegisterDatabase, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    run(told, "report", "units", str(tmp_path / "all.parquet"))
    with duckdb.connect() as duck:
        rows = duck.read_parquet(str(tmp_path / "all.parquet"))
        types = dict(zip(rows.columns, map(str, rows.types), strict=True))
        assert (types["valid_from"], types["unit_id"], types["used_for_counting"]) == ("DATE", "INTEGER", "BOOLEAN")
        assert duck.sql("select count(*), count(valid_until) from rows").fetchone() == (8, 0)


def test_codes_in_use(told: RegisterDatabase) -> None:
    assert [r["path"] for r in read(told, "report", "codes", "region")] == ["03", "03.01", "11", "11.03"]
    assert [r["code"] for r in read(told, "report", "codes", "legal_form")] == ["AS"]
    assert [r["code"] for r in read(told, "report", "codes", "country")] == ["NO"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    some_rows(
        [
            (["report", "history", "--unit-type", "person"], "there is no unit type 'person'"),
            (["report", "history", "--resolution", "week"], "there is no resolution 'week'"),
            (["report", "history", "--measure", "joy"], "there is no measure 'joy'"),
            (["report", "history", "--from", "2050", "--plot", "history.png"], "there is nothing to draw"),
            (["report", "history", "--plot", "history.txt"], "history.txt is no kind of picture"),
            (["report", "history", "--csv", "/no/such/folder/h.csv"], "/no/such/folder/h.csv cannot be written"),
            (["report", "facets", "--at", "today"], "--at today is not a day"),
            (["report", "facets", "--at", "9999-12-31"], "9999-12-31 is too late"),
            (["report", "facets", "--legal-form", "XX"], "legal_form has no code 'XX'"),
            (["report", "facets", "--status", "XX"], "status has no code 'XX'"),
            (["report", "facets", "--region", "8888"], "there is no region '8888'"),
            (["report", "facets", "--activity", "99.99"], "there is no activity '99.99'"),
            (["report", "facets", "--sector", "x"], "there is no sector 'x'"),
            (["report", "codes", "colour"], "there is no code list 'colour'"),
            (["report", "units", "units.xlsx"], "units.xlsx is no kind of file that can be written"),
            (["report", "units", "/no/such/folder/u.csv"], "/no/such/folder/u.csv cannot be written"),
            (["report", "unit", "12345"], "12345"),
            (["search", "x", "--unit-type", "person"], "there is no unit type 'person'"),
            (["search", " ", "--at", "2025-01-01"], "there is nothing to search for"),
            (["search", "--region", "8888"], "there is no region '8888'"),
            (["search", "fish", "--activity", "J.99"], "there is no activity 'J.99'"),
            (["search", "--sector", "x"], "there is no sector 'x'"),
        ],
        one_in=3,
    ),
)
def test_what_cannot_be_reported_is_refused(told: RegisterDatabase, arguments: list[str], says: str) -> None:
    with pytest.raises(RegisterError) as caught:
        run(told, *arguments)
    assert says in str(caught.value)


@pytest.mark.parametrize("region", some(["03", "0301", "03.01"], one_in=2))
@pytest.mark.parametrize("activity", ["01.1", "011", "A.01.1", "A"])
def test_places_are_given_by_codes_or_by_paths(told: RegisterDatabase, region: str, activity: str) -> None:
    rows = read(told, "search", "--region", region, "--activity", activity, "--unit-type", "legal_unit")
    assert [r["name"] for r in rows] == ["Nordic Fish AS"]
    assert read(told, "report", "facets", "--region", region, "--activity", activity)["count"] == 1


def test_an_empty_register_says_so(reg_db: RegisterDatabase) -> None:
    assert run(reg_db, "report", "history") == "There is no history yet.\n"
    assert run(reg_db, "report", "demography") == "There is no history yet.\n"
    assert run(reg_db, "report", "codes", "sector") == "No unit has any.\n"
    assert run(reg_db, "search", "fish") == "No unit is found.\n"


def test_search_finds_identifiers_first_and_words_by_their_beginning(told: RegisterDatabase) -> None:
    assert found(told, "910000002") == [("legal_unit", "Fishing Tools AS"), ("enterprise", "Fishing Tools AS")]
    assert found(told, "910000004") == [("establishment", "Nordic Fish, Oslo")]
    assert set(found(told, "fish")) == {
        ("legal_unit", "Nordic Fish AS"),
        ("enterprise", "Nordic Fish AS"),
        ("establishment", "Nordic Fish, Oslo"),
        ("legal_unit", "Fishing Tools AS"),
        ("enterprise", "Fishing Tools AS"),
        ("power_group", "Fishing Tools AS"),
    }
    assert [r["name"] for r in read(told, "search", "NORDIC fish", "--unit-type", "legal_unit")] == ["Nordic Fish AS"]
    assert read(told, "search", "ordic") == [], "words, not letters within them"
    rows = read(told, "search", "fish", "--region", "03", "--unit-type", "legal_unit")
    assert [(r["name"], r["employees"]) for r in rows] == [("Nordic Fish AS", 17)]
    assert read(told, "search", "fishing", "--at", "2024-01-01") == []
    assert len(read(told, "search", "fish", "--limit", "1")) == 1
    assert "Nordic Fish AS" in run(told, "search", "nordic", "--activity", "A.01")


def test_search_finds_enterprises_and_groups_by_what_they_are_called(told: RegisterDatabase) -> None:
    holding, group = ("enterprise", "Holding"), ("power_group", "Fishing Tools AS")
    assert found(told, "hold") == [holding], "a name of its own"
    assert found(told, "910000003")[1:] == [holding], "the identifier of the unit that describes it"
    assert found(told, "odd", "--unit-type", "enterprise") == [], "it is not called that"
    assert found(told, "pg0001") == [group]
    assert read(told, "search", "PG0001")[0]["ident"] == "PG0001"
    assert found(told, "fish", "--unit-type", "power_group") == [group]
    assert found(told, "nordic", "--unit-type", "power_group") == [], "called as its root, not as its parts"


def test_search_lists_units_by_what_they_are(told: RegisterDatabase) -> None:
    both = [("enterprise", "Nordic Fish AS"), ("legal_unit", "Nordic Fish AS")]
    assert found(told, "--region", "03") == both
    assert found(told, "--activity", "A.01") == both
    assert found(told, "--region", "11", "--activity", "A") == []
    assert found(told, "--region", "03", "--at", "2023-12-31") == []
    assert found(told, "--unit-type", "power_group") == [("power_group", "Fishing Tools AS")]
    assert len(found(told, "--unit-type", "legal_unit", "--limit", "2")) == 2
