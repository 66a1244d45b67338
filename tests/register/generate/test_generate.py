"""A generated register: the same for the same seed at any size, in the shape asked for, free of contradictions."""

from __future__ import annotations

import csv
import hashlib
import json
import tracemalloc
from collections import Counter
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from catchment_register.errors import SettingRefused
from catchment_register.generate import shapes
from catchment_register.generate.files import Generated, write_register
from catchment_register.generate.mix import spread
from catchment_register.generate.plan import Plan, choose_plan
from tests.fixtures.register import run_cli

HISTORY = Plan(legal_units=4000, years=6, valid_from=date(2020, 1, 1), relationships=0.05)


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def day(text: str) -> date:
    return date.max if text == "infinity" else date.fromisoformat(text)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history")
    write_register(HISTORY, folder)
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    return write_register(Plan(legal_units=8000), tmp_path_factory.mktemp("plain"))


def periods_of(listed: list[dict[str, str]], ident: str = "tax_ident") -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for row in listed:
        found.setdefault(row[ident], []).append(row)
    return found


def test_same_seed_makes_the_same_files(tmp_path: Path) -> None:
    plan = Plan(legal_units=300, years=3, valid_from=date(2023, 1, 1), relationships=0.05)
    for name in ("one", "other"):
        write_register(plan, tmp_path / name)
    names = {f.name for f in (tmp_path / "one").iterdir()}
    assert {f.name for f in (tmp_path / "other").iterdir()} == names
    assert all((tmp_path / "one" / n).read_bytes() == (tmp_path / "other" / n).read_bytes() for n in names)


def test_files_are_the_same_on_every_machine(tmp_path: Path) -> None:
    write_register(Plan(legal_units=200, years=2, valid_from=date(2024, 1, 1)), tmp_path)
    digest = hashlib.sha256()
    for name in ("legal_units", "establishments", "informal_establishments"):
        digest.update((tmp_path / f"{name}.csv").read_bytes())
    assert digest.hexdigest()[:16] == "f244fb9513b96d05"


def test_another_seed_makes_other_units(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_register(Plan(legal_units=100, seed=seed), tmp_path / str(seed))
    one, other = (rows(tmp_path / seed, "legal_units") for seed in ("1", "2"))
    assert [r["name"] for r in one] != [r["name"] for r in other]


def test_a_smaller_register_is_the_beginning_of_a_larger_one(tmp_path: Path) -> None:
    for size in (200, 900):
        write_register(
            Plan(legal_units=size, years=4, valid_from=date(2022, 1, 1), relationships=0.05), tmp_path / str(size)
        )
    for name in ("legal_units", "establishments", "informal_establishments", "relationships", "updates"):
        small, large = (rows(tmp_path / size, name) for size in ("200", "900"))
        assert small
        assert large[: len(small)] == small, name
        assert len(large) > len(small)


def test_shares_are_those_that_were_asked_for(plain: Generated) -> None:
    counts = plain.counts
    assert counts["legal_units.csv"] == 8000
    assert counts["establishments.csv"] == pytest.approx(6000, rel=0.03)
    assert counts["informal_establishments.csv"] == 160
    assert 40 <= counts["relationships.csv"] <= 120


@pytest.mark.parametrize("share", [0.0, 0.15, 0.5, 1.0])
def test_share_of_establishments_is_met(tmp_path: Path, share: float) -> None:
    made = write_register(Plan(legal_units=4000, establishments=share), tmp_path)
    assert made.counts["establishments.csv"] == pytest.approx(4000 * share, rel=0.08)


def test_shape_is_that_of_a_register(plain: Generated) -> None:
    units = rows(plain.folder, "legal_units")
    forms = Counter(r["legal_form_code"] for r in units)
    regions = Counter(r["physical_region_code"] for r in units)
    assert forms["ENK"] / len(units) == pytest.approx(0.40, abs=0.03)
    assert forms["AS"] / len(units) == pytest.approx(0.38, abs=0.03)
    assert regions["0101"] / len(units) == pytest.approx(0.15, abs=0.02)
    assert len(regions) > 330
    assert len({r["primary_activity_category_code"] for r in units}) > 450
    assert sum(1 for r in units if r["status_code"] == "active") / len(units) == pytest.approx(0.96, abs=0.01)
    owned = Counter(Counter(r["legal_unit_tax_ident"] for r in rows(plain.folder, "establishments")).values())
    assert owned[1] / owned.total() > 0.9
    assert max(owned) > 10


def test_mean_of_further_establishments_is_as_stated() -> None:
    means: dict[int, float] = {}
    total = 0.0
    for form in shapes.FORMS:
        for size in shapes.EMPLOYEES[form.code]:
            most = min(size, 4000)
            if most not in means:
                means[most] = sum(shapes.extra_establishments(most, rank) for rank in range(1024)) / 1024
            total += form.share * means[most] / shapes.QUANTILES
    assert total / sum(form.share for form in shapes.FORMS) == pytest.approx(shapes.MEAN_EXTRA, rel=0.02)


@pytest.mark.parametrize(
    ("name", "ident"),
    [("legal_units", "tax_ident"), ("establishments", "tax_ident"), ("informal_establishments", "stat_ident")],
)
def test_identifiers_are_unique(plain: Generated, name: str, ident: str) -> None:
    idents = [r[ident] for r in rows(plain.folder, name)]
    assert len(idents) == len(set(idents))


def test_every_code_is_in_its_list(history: Path) -> None:
    activities = {r["path"].partition(".")[2].replace(".", "") for r in rows(history, "activities")}
    regions = {r["path"].replace(".", "") for r in rows(history, "regions")}
    sectors = {r["path"].rpartition(".")[2] for r in rows(history, "sectors")}
    forms = {r["code"] for r in rows(history, "legal_forms")}
    for name in ("legal_units", "establishments", "informal_establishments"):
        for row in rows(history, name):
            assert row["primary_activity_category_code"].replace(".", "") in activities
            assert row["physical_region_code"] in regions | {""}
            assert row.get("sector_code", "") in sectors | {""}
            assert row.get("legal_form_code", "ENK") in forms


@pytest.mark.parametrize(
    ("name", "ident"),
    [("legal_units", "tax_ident"), ("establishments", "tax_ident"), ("informal_establishments", "stat_ident")],
)
def test_rows_of_a_unit_follow_one_another_and_differ(history: Path, name: str, ident: str) -> None:
    for found in periods_of(rows(history, name), ident).values():
        assert HISTORY.valid_from <= day(found[0]["valid_from"]) < HISTORY.end
        assert all(r["valid_from"] <= r["valid_to"] for r in found)
        for one, other in pairwise(found):
            assert day(other["valid_from"]) == day(one["valid_to"]) + timedelta(days=1)
            changed = {k for k in one if one[k] != other[k]} - {"valid_from", "valid_to"}
            assert changed, one


def test_history_has_births_deaths_and_changes(history: Path) -> None:
    units = periods_of(rows(history, "legal_units"))
    born = sum(1 for found in units.values() if found[0]["birth_date"] == found[0]["valid_from"])
    died = [found[-1] for found in units.values() if found[-1]["death_date"]]
    assert born / len(units) > 0.1
    assert len(died) / len(units) == pytest.approx(1 - 0.97**HISTORY.years, abs=0.05)
    assert all(r["death_date"] == r["valid_to"] for r in died)
    changed = Counter(
        column
        for found in units.values()
        for one, other in pairwise(found)
        for column in one
        if one[column] != other[column]
    )
    for column in (
        "name",
        "legal_form_code",
        "sector_code",
        "primary_activity_category_code",
        "physical_address_part1",
    ):
        assert changed[column] > 0, column


def test_establishments_lie_within_the_time_of_their_owner(history: Path) -> None:
    lives = {
        ident: (day(found[0]["valid_from"]), day(found[-1]["valid_to"]))
        for ident, found in periods_of(rows(history, "legal_units")).items()
    }
    handed_over = 0
    for found in periods_of(rows(history, "establishments")).values():
        handed_over += len({r["legal_unit_tax_ident"] for r in found}) > 1
        for row in found:
            first, last = lives[row["legal_unit_tax_ident"]]
            assert first <= day(row["valid_from"])
            assert day(row["valid_to"]) <= last
    assert handed_over > 0


def test_relationships_lie_within_the_time_of_both_units(history: Path) -> None:
    lives = {
        ident: (day(found[0]["valid_from"]), day(found[-1]["valid_to"]))
        for ident, found in periods_of(rows(history, "legal_units")).items()
    }
    ties = rows(history, "relationships")
    assert len(ties) > 50
    for tie in ties:
        for end in ("influencing_tax_ident", "influenced_tax_ident"):
            first, last = lives[tie[end]]
            assert first <= day(tie["valid_from"])
            assert day(tie["valid_to"]) <= last


def test_nobody_has_two_controllers(history: Path) -> None:
    controlled = Counter(
        r["influenced_tax_ident"] for r in rows(history, "relationships") if r["rel_type_code"] == "control"
    )
    assert controlled
    assert set(controlled.values()) == {1}


@pytest.mark.long
def test_memory_does_not_grow_with_the_register(tmp_path: Path) -> None:
    peaks: list[int] = []
    for size in (500, 4000):
        tracemalloc.start()
        write_register(Plan(legal_units=size), tmp_path / str(size))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 200_000


def test_a_run_that_breaks_leaves_no_file(tmp_path: Path) -> None:
    def stop(units: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_register(Plan(legal_units=100), tmp_path, stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["README.txt", "legal_units.csv"])
def test_files_that_another_program_made_are_not_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("important")
    with pytest.raises(SettingRefused, match=name):
        write_register(Plan(legal_units=10), tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "important"}


def test_files_that_were_generated_before_are_replaced(tmp_path: Path) -> None:
    write_register(Plan(legal_units=10), tmp_path)
    write_register(Plan(legal_units=20), tmp_path)
    assert len({row["tax_ident"] for row in rows(tmp_path, "legal_units")}) == 20


def test_every_choice_has_a_place_in_its_table() -> None:
    table = spread({"common": 1e9, "rare": 1.0, "never": 0.0}, 16)
    assert Counter(table) == {"common": 14, "rare": 1, "never": 1}


def test_years_end_when_the_profile_ends() -> None:
    plan = choose_plan("national", years=3)
    assert (plan.valid_from, plan.end, plan.today) == (date(2023, 1, 1), date(2026, 1, 1), date(2026, 2, 13))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"profile": "huge"}, "no profile 'huge'"),
        ({"legal_units": 0}, "0 legal units"),
        ({"establishments": 1.5}, "establishments cannot be 1.5"),
        ({"relationships": 0.2}, "relationships cannot be 0.2"),
        ({"years": 61}, "61 years"),
        ({"valid_from": date(2024, 2, 29)}, "cannot begin on 2024-02-29"),
        ({"valid_from": date(1, 1, 1)}, "cannot begin on 0001-01-01"),
    ],
)
def test_what_cannot_be_made_is_refused(options: dict[str, object], words: str) -> None:
    chosen = {"profile": None} | options
    with pytest.raises(SettingRefused, match=words):
        choose_plan(**chosen)  # pyright: ignore[reportArgumentType] - wrong on purpose


def test_command_writes_the_files_and_tells_how_to_load_them(tmp_path: Path) -> None:
    out = tmp_path / "made"
    said = run_cli(None, "register", "generate", "--out", str(out), "--legal-units", "50", "--json").stdout
    told = json.loads(said)
    assert told["rows"]["legal_units.csv"] == len(rows(out, "legal_units")) == 50
    assert "--valid-from 2026-01-01" in (out / "README.txt").read_text(encoding="utf-8")


def test_command_refuses_without_a_traceback(tmp_path: Path) -> None:
    failed = run_cli(None, "register", "generate", "--out", str(tmp_path), "--valid-from", "soon", code=1)
    assert "'soon' is not a day" in failed.stderr
