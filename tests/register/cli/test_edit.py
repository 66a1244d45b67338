"""``catchment register edit`` as a person or a script runs it."""

from __future__ import annotations

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from catchment import RequestRefused
from catchment_register import RegisterError
from catchment_register.cli.main import app
from tests.fixtures.register import Cli
from tests.fixtures.register_driver import RegisterDatabase


def run(reg: RegisterDatabase, *arguments: str) -> str:
    done = CliRunner().invoke(app, ["edit", *arguments, "--dsn", reg.dsn], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def two(reg_db: RegisterDatabase) -> RegisterDatabase:
    for ident in "12":
        reg_db.lu(ident, "2020-01-01", name=f"Unit {ident}")
    return reg_db


def test_every_verb_does_what_it_says(two: RegisterDatabase) -> None:
    one, other = two.unit_id("1"), two.unit_id("2")
    assert run(
        two, "set", "1", "name=New", "employees=7", "--valid-from", "2021-01-01", "--valid-to", "2021-12-31"
    ) == (f"legal_unit {one} changed\n")
    names = two.rows("select name from register.legal_unit where id = %s order by valid_from", one)
    assert [r["name"] for r in names] == ["Unit 1", "New", "Unit 1"]
    run(two, "relate", "tax_ident:1", f"legal_unit/{other}", "--type", "ownership", "--percentage", "60.5")
    assert float(two.value("select percentage from register.legal_relationship")) == 60.5
    run(two, "unrelate", "1", "2")
    assert two.value("select count(*) from register.legal_relationship") == 0
    home = two.enterprise_of("2")
    assert run(two, "connect", "1", "--enterprise", str(home), "--valid-from", "2022-01-01") == (
        f"legal_unit {one} belongs to enterprise {home}\n"
    )
    run(two, "primary", "1", "--valid-from", "2022-01-01")
    assert two.value("select bool_and(primary_for_enterprise) from register.legal_unit where id = %s", one)
    run(two, "end", "2", "--on", "2025-01-01")
    assert two.value("select max(valid_until)::text from register.legal_unit where id = %s", other) == "2025-01-01"
    run(two, "delete", "2")
    assert two.value("select count(*) from register.legal_unit where id = %s", other) == 0
    two.check()


def test_a_right_that_is_missing_is_refused_with_the_roles_that_give_it(two: RegisterDatabase) -> None:
    as_reader = make_conninfo(two.dsn, options="-c role=register_read")
    with pytest.raises(RequestRefused, match="permission denied") as raised:
        CliRunner().invoke(app, ["edit", "set", "1", "name=x", "--dsn", as_reader], catch_exceptions=False)
    assert "register_edit to change units" in str(raised.value.hint)


def test_what_cannot_be_is_refused_with_a_reason(two: RegisterDatabase) -> None:
    for arguments, says in (
        (["set", "9", "name=x"], "there is no unit 9"),
        (["set", "1", "name"], "'name' is not understood"),
        (["set", "1", "colour=red"], "legal_unit has no colour"),
        (["set", "1", "name=x", "--valid-from", "soon"], "--valid-from soon is not a day"),
        (["set", "1", "name=x", "--valid-from", "9999-12-31"], "--valid-from 9999-12-31 is too late"),
        (["set", "1", "name=x", "--valid-to", "9999-12-31"], "--valid-to 9999-12-31 is too late"),
        (["set", "1", "name=x", "--valid-to", "9999-12-30"], "--valid-to 9999-12-30 is too late"),
        (["end", "1", "--on", "9999-12-31"], "--on 9999-12-31 is too late"),
        (["relate", "1", "1", "--type", "ownership"], "a unit cannot influence itself"),
        (["connect", f"enterprise/{two.enterprise_of('1')}"], f"names enterprise {two.enterprise_of('1')}"),
    ):
        done = CliRunner().invoke(app, ["edit", *arguments, "--dsn", two.dsn])
        assert isinstance(done.exception, RegisterError), (arguments, done.exception)
        assert says in str(done.exception)


@pytest.mark.long
@pytest.mark.slow
def test_with_its_own_worker_it_waits_until_the_change_is_published(two: RegisterDatabase, reg_cli: Cli) -> None:
    done = reg_cli("edit", "set", "1", "name=New", "--valid-from", "2021-01-01", "--work")
    assert "published" in done.stdout
    assert "No worker" not in done.stderr
    found = two.rows("select name from register.statistical_unit where unit_type = 'legal_unit' and name = 'New'")
    assert len(found) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["set", "1", "name=A", "name=B"], "name is given twice"),
        (["set", "1", "name=A", "--valid-from", "infinity"], "--valid-from infinity is not a day"),
        (["end", "1", "--on", "infinity"], "--on infinity is not a day"),
    ],
)
def test_what_would_be_dropped_in_silence_is_refused(two: RegisterDatabase, arguments: list[str], says: str) -> None:
    with pytest.raises(RegisterError, match=says):
        run(two, *arguments)
    assert run(two, "set", "1", "name=A", "--valid-to", "infinity").endswith("changed\n")
