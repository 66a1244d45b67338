"""``catchment register init`` and ``load-codes`` as a person or a script runs them."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from catchment_register import RegisterError, SettingRefused
from catchment_register.cli.init import TUNABLE
from catchment_register.cli.main import app
from tests.fixtures.register import Cli, run_cli
from tests.fixtures.register_driver import RegisterDatabase
from tests.fixtures.server import stop_server


def refusal(reg: RegisterDatabase, *arguments: str) -> str:
    """What ``catchment register …`` is refused with; run in this process, which is quicker."""
    done = CliRunner().invoke(app, [*arguments, "--dsn", reg.dsn])
    assert isinstance(done.exception, RegisterError), done.exception
    return str(done.exception)


def test_init_installs_into_a_database_with_the_engine_alone(db: str, tmp_path: Path) -> None:
    file = tmp_path / "tags.csv"
    file.write_text("path,name\nx,X\n")
    assert "the register is not installed" in run_cli(db, "register", "load-codes", "tag", str(file), code=1).stderr
    done = run_cli(
        db, "register", "init", "--country", "no", "--activity-standard", "nace_v2.1", "--today", "2026-02-13"
    )
    assert done.stdout.rstrip().endswith("The register is ready.")
    for line in ("250 countries", "country = NO", "activity_standard = nace_v2.1", "today = 2026-02-13"):
        assert line in done.stdout
    assert run_cli(db, "register", "init").stdout == "The register was ready already.\n"


def test_init_changes_settings_and_tells_which(reg_db: RegisterDatabase, reg_cli: Cli) -> None:
    told = json.loads(reg_cli("init", "--json", "--set", "batch_enterprises=50", "--set", "rebuild_share=0.5").stdout)
    assert told["changed"] == {"batch_enterprises": 50, "rebuild_share": 0.5}
    told = json.loads(reg_cli("init", "--json", "--today", "real", "--region-version", "2030").stdout)
    assert told["changed"] == {"today": None, "region_version": "2030"}
    assert reg_db.value("select today from register.settings") is None
    assert "today = 2030-01-01" in reg_cli("init", "--today", "2030-01-01").stdout
    assert "today = real" in reg_cli("init", "--today", "real").stdout


def test_init_refuses_what_cannot_be_and_changes_nothing(reg_db: RegisterDatabase) -> None:
    before = reg_db.rows("select * from register.settings")
    for arguments, says in (
        (["--country", "XX"], "there is no country 'XX'"),
        (["--activity-standard", "sic"], "there is no standard of activities 'sic'"),
        (["--today", "13.02.2026"], "'13.02.2026' is not a day"),
        (["--today", "0999-12-31"], "today cannot be 0999-12-31"),
        (["--today", "9999-12-31"], "today cannot be 9999-12-31"),
        (["--set", "colour=red"], "--set colour=red is not understood"),
        (["--set", "batch_enterprises"], "--set batch_enterprises is not understood"),
        (["--set", "batch_enterprises=0"], "batch_enterprises cannot be '0'"),
        (["--set", "truncates_text=perhaps"], "truncates_text cannot be 'perhaps'"),
        (["--country", "SE", "--set", "rebuild_share=2"], "rebuild_share cannot be '2'"),
    ):
        assert says in refusal(reg_db, "init", *arguments)
        assert reg_db.rows("select * from register.settings") == before


WHOLE = ["1", "2147483647"], ["0", "-5", "2147483648", "99999999999", "1.5", "abc", ""]
ACCEPTED_AND_REFUSED = {
    "batch_enterprises": WHOLE,
    "import_batch_rows": WHOLE,
    "partition_count_target": (["1", "512"], ["0", "513", "six"]),
    "rebuild_share": (["0", "1"], ["-0.1", "1.1", "nan", "infinity", "abc"]),
    "truncates_text": (["true", "false"], ["perhaps", "2"]),
}


@pytest.mark.parametrize("key", TUNABLE)
def test_a_refused_value_of_a_setting_has_a_hint_with_those_accepted(reg_db: RegisterDatabase, key: str) -> None:
    accepted, refused = ACCEPTED_AND_REFUSED[key]
    for value in accepted:
        done = CliRunner().invoke(app, ["init", "--set", f"{key}={value}", "--dsn", reg_db.dsn])
        assert done.exit_code == 0, done.exception
        # The hint names the first and the last value that the table accepts.
        assert value in TUNABLE[key].split()
    for value in refused:
        done = CliRunner().invoke(app, ["init", "--set", f"{key}={value}", "--dsn", reg_db.dsn])
        assert isinstance(done.exception, SettingRefused), (value, done.exception)
        assert str(done.exception) == f"{key} cannot be {value!r}"
        assert done.exception.hint == f"Write {TUNABLE[key]}."


def test_load_codes_reports_what_it_did_and_what_it_skipped(reg_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "tags.csv"
    file.write_text("path,name\nwatch,To be watched\nx,X\nx.1,X1\ny.1,Y1\n[red],Z\n")
    done = reg_cli("load-codes", "tag", str(file), "--replace")
    assert done.stdout == "tag: 2 added, 0 changed, 1 unchanged, 1 disabled, 2 skipped\n"
    assert done.stderr.splitlines() == [
        "  line 5: y.1 has no y above it",
        "  line 6: '[red]' is not a path: letters, digits and _, joined by dots",
    ]
    told = json.loads(reg_cli("load-codes", "tag", str(file), "--json").stdout)
    assert (told["unchanged"], told["problems"][0]["line"]) == (3, 5)


def test_load_codes_refuses_what_it_cannot_read(reg_db: RegisterDatabase, tmp_path: Path) -> None:
    (tmp_path / "wrong.csv").write_text("code,name\nx,X\n")
    (tmp_path / "tags.csv").write_text("path,name\nx,X\n")
    for kind, file, options, says in (
        ("colour", "tags.csv", [], "there is no code list 'colour'"),
        ("tag", "missing.csv", [], "missing.csv cannot be read: No such file or directory"),
        ("tag", "wrong.csv", [], "lacks the column path"),
        ("tag", "tags.csv", ["--version", "3"], "tag has no versions"),
    ):
        assert says in refusal(reg_db, "load-codes", kind, str(tmp_path / file), *options)


def test_a_refusal_is_a_message_and_a_hint(reg_cli: Cli) -> None:
    done = reg_cli("init", "--country", "XX", code=1)
    assert done.stderr == "error: there is no country 'XX'\nhint: Give its two letters, as NO.\n"


@pytest.fixture
def own_data() -> Iterator[Path]:
    """A folder for an embedded server of the test's own."""
    folder = Path(tempfile.mkdtemp(prefix="catchment-register-"))
    folder.chmod(0o755)
    yield folder / "data"
    stop_server(folder / "data")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.long
@pytest.mark.slow
def test_without_a_database_the_embedded_server_is_kept_up_to_date(own_data: Path, tmp_path: Path) -> None:
    for question in (["why"], ["status"], ["search", "x"]):
        refused = run_cli(None, "register", *question, code=1, CATCHMENT_DATA=str(own_data))
        assert "the register is not installed in this database" in refused.stderr
        assert "catchment register init" in refused.stderr
    file = tmp_path / "tags.csv"
    file.write_text("path,name\nx,X\n")
    done = run_cli(None, "register", "load-codes", "tag", str(file), CATCHMENT_DATA=str(own_data))
    assert done.stdout.startswith("tag: 1 added")
