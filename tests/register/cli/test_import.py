"""``catchment register import`` and ``import-job`` as a person or a script runs them."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from catchment_register import FileRefused, JobNotFound, JobRefused, MappingRefused, PeriodInvalid
from catchment_register.cli.main import app
from tests.fixtures.register import Cli
from tests.fixtures.register_driver import RegisterDatabase
from tests.fixtures.worker import wait_until

GOOD = "tax_ident,name,employees,colour\n1,One,5,red\n2,Two,,blue\n"
BAD = GOOD + "3,,x,green\n"


def run(reg: RegisterDatabase, *arguments: str) -> str:
    """Run in this process, which is quicker; returns what was printed."""
    done = CliRunner().invoke(app, [*arguments, "--dsn", reg.dsn], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "units.csv"
    path.write_text(GOOD)
    return path


def drain(reg: RegisterDatabase) -> None:
    reg.conn.execute("call worker.drain('import')")


def test_a_file_is_uploaded_and_worked_on_later(reg_db: RegisterDatabase, file: Path) -> None:
    told = run(reg_db, "import", str(file), "--kind", "legal_unit", "--valid-from", "2020-01-01", "--slug", "first")
    assert "2 rows uploaded, read by own columns" in told
    assert "Columns that are not read: colour" in told
    drain(reg_db)
    assert [r["name"] for r in reg_db.rows("select name from register.legal_unit order by name")] == ["One", "Two"]
    jobs = json.loads(run(reg_db, "import-job", "list", "--json"))
    assert [(j["slug"], j["state"], j["imported_rows"]) for j in jobs] == [("first", "finished", 2)]


def test_a_definition_of_ones_own_is_named_instead_of_a_kind(reg_db: RegisterDatabase, file: Path) -> None:
    """It brings its mapping, its strategy and the columns that its files must have."""
    reg_db.conn.execute(
        "insert into register.import_definition (slug, name, mode, strategy, valid_time_from, unique_units, custom)"
        " values ('yearly', 'Yearly list', 'legal_unit', 'insert_only', 'job_provided', true, true)"
    )
    definition = reg_db.value("select id from register.import_definition where slug = 'yearly'")
    for ours, theirs in (("tax_ident", "nr"), ("name", "title"), ("employees", "staff")):
        reg_db.insert("import_mapping", definition_id=definition, column_name=ours, input_column=theirs)
    reg_db.insert("import_mapping", definition_id=definition, column_name="status_code", value="passive")
    reg_db.insert("import_source_column", definition_id=definition, column_name="employees")
    file.write_text("nr,title,staff\n1,One,5\n")
    arguments = ("import", str(file), "--definition", "yearly", "--valid-from", "2020-01-01")
    assert "1 rows uploaded, read by yearly" in run(reg_db, *arguments)
    drain(reg_db)
    found = reg_db.rows(
        "select l.name, s.code from register.legal_unit as l join register.status as s on s.id = l.status_id"
    )
    assert found == [{"name": "One", "code": "passive"}]
    job = reg_db.rows("select definition, strategy from register.import_job_progress")
    assert job == [{"definition": "yearly", "strategy": "insert_only"}]
    reg_db.conn.execute("delete from register.import_mapping where column_name = 'employees'")
    with pytest.raises(JobRefused, match="yearly needs the columns employees, and the file lacks them"):
        run(reg_db, *arguments)
    assert reg_db.value("select count(*) from register.import_job") == 1


@pytest.mark.slow
def test_with_its_own_worker_it_waits_and_reports_the_outcome(
    reg_cli: Cli, reg_db: RegisterDatabase, tmp_path: Path
) -> None:
    file, errors = tmp_path / "units.csv", tmp_path / "errors.csv"
    file.write_text(BAD)
    arguments = ("--kind", "legal_unit", "--valid-from", "2020-01-01", "--valid-to", "2020-12-31", "--no-review")
    done = reg_cli("import", str(file), *arguments, "--work", "--errors", str(errors))
    assert "3 rows, 2 imported, 1 with errors, 0 with warnings" in done.stdout
    assert "a name is needed" in done.stdout
    assert reg_db.value("select max(valid_until)::text from register.legal_unit") == "2021-01-01"
    with errors.open() as written:
        rows = list(csv.DictReader(written))
    assert [(r["row_no"], r["column"], r["message"]) for r in rows] == [
        ("3", "employees", "x is not a value of type int"),
        ("3", "name", "a name is needed"),
    ]


def test_a_wait_reports_that_no_worker_runs(reg_db: RegisterDatabase, file: Path) -> None:
    file.write_text(BAD)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(
            CliRunner().invoke,
            app,
            ["import", str(file), "--kind", "legal_unit", "--valid-from", "2020-01-01", "--wait", "--dsn", reg_db.dsn],
        )
        looked = (
            "select exists (select from pg_stat_activity where query like '%%is_served%%' and pid <> pg_backend_pid())"
        )
        wait_until(lambda: reg_db.rows(looked)[0]["exists"], seconds=60)
        drain(reg_db)
        done = waiting.result(60)
    assert "No worker serves the queue import yet" in done.output
    assert "waiting for review" in done.output


def test_a_job_with_errors_waits_for_a_review(reg_db: RegisterDatabase, file: Path) -> None:
    file.write_text(BAD)
    run(reg_db, "import", str(file), "--kind", "legal_unit", "--valid-from", "2020-01-01")
    drain(reg_db)
    told = run(reg_db, "import-job", "show", "1")
    assert "waiting for review" in told
    assert "import-job approve 1" in told
    assert len(json.loads(run(reg_db, "import-job", "errors", "1", "--json"))) == 2
    assert run(reg_db, "import-job", "approve", "1") == "job 1 approved\n"
    drain(reg_db)
    assert "finished" in run(reg_db, "import-job", "show", "1")
    assert reg_db.value("select count(*) from register.legal_unit") == 2
    assert run(reg_db, "import-job", "delete", "1") == "job 1 deleted\n"
    assert run(reg_db, "import-job", "list") == "There are no import jobs.\n"


def test_a_wait_behind_a_review_reports_it(reg_db: RegisterDatabase, file: Path) -> None:
    file.write_text(BAD)
    unit = ("--kind", "legal_unit", "--valid-from", "2020-01-01")
    run(reg_db, "import", str(file), *unit)
    drain(reg_db)
    file.write_text(GOOD)
    told = " ".join(run(reg_db, "import", str(file), *unit, "--wait").split())
    assert "held up by job 1, which waits for review" in told
    assert "Job 2 continues when job 1 has been reviewed: catchment register import-job approve 1, or reject" in told
    assert "Job 2 continues when job 1 has been reviewed" in " ".join(run(reg_db, "status").split())


def test_a_wait_behind_a_review_reports_it_beside_json(reg_db: RegisterDatabase, file: Path) -> None:
    file.write_text(BAD)
    arguments = ("import", str(file), "--kind", "legal_unit", "--valid-from", "2020-01-01")
    run(reg_db, *arguments)
    drain(reg_db)
    file.write_text(GOOD)
    done = CliRunner().invoke(app, [*arguments, "--wait", "--json", "--dsn", reg_db.dsn], catch_exceptions=False)
    assert done.exit_code == 0
    job = json.loads(done.stdout)
    assert (job["state"], job["imported_rows"], job["held_by"]) == ("upload_completed", 0, 1)
    told = " ".join(done.stderr.split())
    assert told == "Job 2 continues when job 1 has been reviewed: catchment register import-job approve 1, or reject"


def test_a_rejected_job_brings_nothing(reg_db: RegisterDatabase, file: Path) -> None:
    run(reg_db, "import", str(file), "--kind", "legal_unit", "--valid-from", "2020-01-01", "--review")
    drain(reg_db)
    assert run(reg_db, "import-job", "reject", "1") == "job 1 rejected\n"
    drain(reg_db)
    assert reg_db.value("select count(*) from register.legal_unit") == 0


def test_what_cannot_be_is_refused_with_a_reason(reg_db: RegisterDatabase, file: Path, tmp_path: Path) -> None:
    unit = ("--kind", "legal_unit", "--valid-from", "2020-01-01")
    for error, arguments, says in (
        (FileRefused, ["import", str(tmp_path / "none.csv"), *unit], "No such file or directory"),
        (MappingRefused, ["import", str(file), "--kind", "colour"], "there is no kind of file 'colour'"),
        (MappingRefused, ["import", str(file), "--kind", "legal_relationship"], "the file lacks rel_type_code"),
        (MappingRefused, ["import", str(file), *unit, "--mapping", "nowhere"], "the mapping nowhere cannot be read"),
        (JobRefused, ["import", str(file), "--kind", "legal_unit"], "takes its dates from the job"),
        (JobRefused, ["import", str(file)], "a file has a kind or a definition"),
        (MappingRefused, ["import", str(file), "--definition", "mine"], "there is no import definition 'mine'"),
        (
            MappingRefused,
            ["import", str(file), "--definition", "legal_unit_source_dates"],
            "takes dates from the rows, and the file has no column valid_from",
        ),
        (
            PeriodInvalid,
            ["import", str(file), "--kind", "legal_unit", "--valid-from", "soon"],
            "--valid-from soon is not a day",
        ),
        (JobRefused, ["import", str(file), *unit, "--strategy", "guess"], "there is no strategy guess"),
        (PeriodInvalid, ["import", str(file), *unit, "--valid-to", "2019-01-01"], "nothing is valid from"),
        (PeriodInvalid, ["import", str(file), *unit, "--valid-to", "9999-12-31"], "--valid-to 9999-12-31 is too late"),
        (JobNotFound, ["import-job", "show", "99"], "there is no import job 99"),
        (JobNotFound, ["import-job", "approve", "99"], "there is no import job 99"),
        (JobNotFound, ["import-job", "retry", "99"], "there is no import job 99"),
    ):
        done = CliRunner().invoke(app, [*arguments, "--dsn", reg_db.dsn])
        assert isinstance(done.exception, error), (arguments, done.exception)
        assert says in str(done.exception)
    assert reg_db.value("select count(*) from register.import_job") == 0


def test_a_file_of_problems_that_cannot_be_written_is_refused_before_a_job_is_created(
    reg_db: RegisterDatabase, file: Path, tmp_path: Path
) -> None:
    arguments = ["import", str(file), "--kind", "legal_unit", "--valid-from", "2020-01-01", "--wait", "--errors"]
    for place, reason in (
        (tmp_path / "none" / "x.csv", f"there is no folder {tmp_path / 'none'}"),
        (file / "x.csv", f"there is no folder {file}"),
        (tmp_path, "it is a folder"),
    ):
        done = CliRunner().invoke(app, [*arguments, str(place), "--dsn", reg_db.dsn])
        assert isinstance(done.exception, FileRefused), done.exception
        assert str(done.exception) == f"{place} cannot be written: {reason}"
        assert done.exception.hint == "Give --errors a file in a folder that you can write to."
    assert reg_db.value("select count(*) from register.import_job") == 0


def test_problems_that_cannot_be_written_later_are_kept(reg_db: RegisterDatabase, file: Path, tmp_path: Path) -> None:
    file.write_text(BAD)
    run(reg_db, "import", str(file), "--kind", "legal_unit", "--valid-from", "2020-01-01")
    drain(reg_db)
    done = CliRunner().invoke(app, ["import-job", "errors", "1", "--file", str(tmp_path), "--dsn", reg_db.dsn])
    assert isinstance(done.exception, FileRefused)
    assert done.exception.hint == "Write it elsewhere: catchment register import-job errors 1 --file FILE"


def test_a_refused_file_has_a_hint_with_the_next_step(reg_db: RegisterDatabase, tmp_path: Path) -> None:
    repeated, folder, workbook = tmp_path / "repeated.csv", tmp_path / "folder", tmp_path / "folder.xlsx"
    repeated.write_text("tax_ident,name,name\n1,One,Two\n")
    folder.mkdir()
    workbook.mkdir()
    for file, error, says, hint in (
        (repeated, MappingRefused, "the file has several columns name", "each column needs a different name"),
        (folder, FileRefused, "it is a folder", "Import its files one by one."),
        (workbook, FileRefused, "it is a folder", "Import its files one by one."),
        (tmp_path / "none.csv", FileRefused, "No such file or directory", "Give the path of a CSV or an Excel file."),
        (tmp_path / "none.xlsx", FileRefused, "No such file or directory", "Give the path of a CSV or an Excel file."),
    ):
        arguments = ["import", str(file), "--kind", "legal_unit", "--valid-from", "2020-01-01", "--dsn", reg_db.dsn]
        refused = CliRunner().invoke(app, arguments).exception
        assert isinstance(refused, error), refused
        assert says in str(refused)
        assert hint in str(refused.hint)
    assert reg_db.value("select count(*) from register.import_job") == 0
