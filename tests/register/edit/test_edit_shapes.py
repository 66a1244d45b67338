"""What ``edit_unit`` is given: an object of words and values, for a unit that exists. Anything else is refused."""

from __future__ import annotations

import pytest

from tests.fixtures.often import some, some_rows
from tests.fixtures.register_driver import Register, Row
from tests.register.support import message, refused

TABLES = ("legal_unit", "enterprise", "power_group", "stat_for_unit", "external_ident", "tag_for_unit")


@pytest.fixture
def units(reg: Register) -> dict[str, int]:
    """A unit of each kind, with an identifier, a tag and a statistic, and a person with an identifier."""
    unit = reg.lu("1", "2020-01-01", employees=1)
    reg.es("11", "1", "2020-01-01")
    reg.insert("tag_for_unit", tag_id=reg.code("tag", "watch"), legal_unit_id=unit)
    person = reg.insert("person", family_name="Berg")["id"]
    reg.insert("external_ident", type_id=reg.code("external_ident_type", "tax_ident"), ident="person", person_id=person)
    return {
        "legal_unit": unit,
        "establishment": reg.unit_id("11"),
        "enterprise": reg.enterprise_of("1"),
        "power_group": reg.insert("power_group", ident="PG0001")["id"],
    }


def stored(reg: Register) -> list[list[Row]]:
    return [reg.rows(f"select xmin::text, ctid::text, t.* from register.{t} as t order by 1, 2") for t in TABLES]


def refusal(reg: Register, unit_type: str | None, unit_id: int | None, changes: str | None) -> str:
    """Why an edit is refused; it has changed nothing."""
    before = stored(reg)
    with refused(reg, "RG008", "RG004", "RG017", "RG024") as caught:
        reg.value("select register.edit_unit(%s, %s, %s::jsonb, '2021-01-01')", unit_type, unit_id, changes)
    assert stored(reg) == before
    return message(caught)


@pytest.mark.parametrize(
    ("changes", "is_what"),
    [
        ("[]", "of type array"),
        ('[{"name": "x"}]', "of type array"),
        ('"name"', "of type string"),
        ("5", "of type number"),
        ("true", "of type boolean"),
        ("null", "of type null"),
        (None, "missing"),
    ],
)
def test_changes_are_an_object(reg: Register, units: dict[str, int], changes: str | None, is_what: str) -> None:
    for unit_type, unit_id in units.items():
        says = refusal(reg, unit_type, unit_id, changes)
        assert says == f"the changes are {is_what}, not an object of words and values"


@pytest.mark.parametrize(
    ("value", "kind"),
    some_rows([('{"a": 1}', "object"), ('["x"]', "array"), ("true", "boolean"), ("null", "null")], one_in=2),
)
@pytest.mark.parametrize(
    "word",
    some(["name", "tax_ident", "tag_path", "employees", "email_address", "short_name", "colour", "sector_code"], 2),
)
def test_a_value_is_a_text_or_a_number(reg: Register, units: dict[str, int], word: str, value: str, kind: str) -> None:
    for unit_type, unit_id in units.items():
        says = refusal(reg, unit_type, unit_id, f'{{"web_address": "x", "{word}": {value}}}')
        assert says == f"{word} = {value} is of type {kind}, not a text or a number"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ('{"employees": 1.5}', "employees = 1.5 is not a value of type int"),
        ('{"employees": 1e30}', f"employees = 1{'0' * 30} is not a value of type int"),
        ('{"birth_date": 20210101}', "birth_date = 20210101 is not a day"),
        ('{"physical_latitude": 1e5}', "physical_latitude = 100000 is no latitude"),
        ('{"physical_latitude": "north"}', "physical_latitude = north is no latitude"),
    ],
)
def test_a_value_that_its_column_cannot_have_is_refused(
    reg: Register, units: dict[str, int], changes: str, says: str
) -> None:
    assert refusal(reg, "legal_unit", units["legal_unit"], changes) == says


def test_numbers_count_as_their_text_and_truth_is_a_value_of_statistics(reg: Register, units: dict[str, int]) -> None:
    reg.insert("stat_definition", code="exports", type="bool", name="Exports", priority=10)
    edit = "select register.edit_unit('legal_unit', %s, %s, '-infinity')"
    given = '{"employees": 12, "turnover": 0.5, "exports": true, "name": 7, "stat_ident": 77}'
    reg.value(edit, units["legal_unit"], given)
    found = reg.rows("select value_int, value_float, value_bool from register.stat_for_unit")
    assert {value for row in found for value in row.values() if value is not None} == {12, 0.5, True}
    assert reg.value("select name from register.legal_unit") == "7"
    assert reg.value("select legal_unit_id from register.external_ident where ident = '77'") == units["legal_unit"]
    reg.value(edit, units["legal_unit"], '{"exports": false}')
    assert reg.value("select value_bool from register.stat_for_unit where value_bool is not null") is False


@pytest.mark.parametrize(
    ("unit_type", "unit_id", "says"),
    [
        ("person", 1, "there is no type of unit person"),
        (None, 1, "there is no type of unit null"),
        ("legal_unit", None, "there is no legal_unit null"),
        ("legal_unit", 2147483647, "there is no legal_unit 2147483647"),
        ("establishment", 0, "there is no establishment 0"),
        ("enterprise", 0, "there is no enterprise 0"),
        ("power_group", -1, "there is no power_group -1"),
    ],
)
def test_an_edit_is_about_a_unit_that_exists(
    reg: Register, units: dict[str, int], unit_type: str | None, unit_id: int | None, says: str
) -> None:
    for changes in ('{"tax_ident": ""}', '{"tax_ident": "9"}', '{"short_name": "x"}', '{"tag_path": ""}', "{}"):
        assert refusal(reg, unit_type, unit_id, changes) == says
