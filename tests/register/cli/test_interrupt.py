"""Ctrl-C during ``catchment register import``: exit code 130, and the state of the job on standard error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures.register import Cli
from tests.fixtures.register_driver import RegisterDatabase
from tests.fixtures.spare import spare
from tests.fixtures.worker import wait_until

UNIT = ("--kind", "legal_unit", "--valid-from", "2020-01-01")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "units.csv"
    path.write_text("tax_ident,name\n1,One\n2,Two\n")
    return path


def is_seen(reg: RegisterDatabase, condition: str) -> bool:
    """Whether another session of the database is like that."""
    others = "pid <> pg_backend_pid() and datname = current_database()"
    return reg.value(f"select exists (select from pg_stat_activity where {others} and {condition})")


def uploads(reg: RegisterDatabase) -> bool:
    return is_seen(reg, "wait_event_type = 'Lock' and query ~* '^copy register.import_upload'")


def follows(reg: RegisterDatabase) -> bool:
    return is_seen(reg, "state = 'idle' and query ~ 'import_job_progress'")


def interrupt(reg: RegisterDatabase, when: Callable[[RegisterDatabase], object], *arguments: str) -> tuple[str, str]:
    """Interrupt a command at a moment; returns what it printed, and what it printed on standard error in one line. That
    may begin with a warning of the driver, if the signal came between two of its steps."""
    folder = Path(arguments[1]).parent
    with (folder / "out").open("w+") as out, (folder / "err").open("w+") as err:
        environment = {**os.environ, "CATCHMENT_DSN": reg.dsn, "COLUMNS": "200"}
        process = spare().start("register", *arguments, environment=environment, out=out.fileno(), err=err.fileno())
        try:
            wait_until(lambda: process.poll() is not None or when(reg))
            process.send_signal(signal.SIGINT)
            code = process.wait(60)
        finally:
            process.kill()
    printed, told = ((folder / name).read_text() for name in ("out", "err"))
    assert code == 130, (printed, told)
    assert "Traceback" not in told
    return printed, " ".join(told.split())


@pytest.mark.parametrize("options", [(), ("--wait",), ("--json", "--slug", "mine")], ids=" ".join)
def test_an_interrupted_upload_says_how_to_delete_its_job(
    reg_db: RegisterDatabase, reg_cli: Cli, file: Path, options: tuple[str, ...]
) -> None:
    with reg_db.connect(autocommit=False) as holder:
        holder.execute("lock table register.import_upload in exclusive mode")
        printed, told = interrupt(reg_db, uploads, "import", str(file), *UNIT, *options)
    delete = "catchment register import-job delete 1"
    assert printed == ""
    assert told.endswith(f"The upload was interrupted: job 1 has no rows. Delete it: {delete}")
    assert reg_db.job(1)["state"] == "waiting_for_upload"
    reg_cli("import-job", "delete", "1")
    assert reg_db.value("select count(*) from register.import_job") == 0


def test_an_interrupted_upload_beside_others_names_no_job(reg_db: RegisterDatabase, file: Path) -> None:
    """It could be the job of another one."""
    with reg_db.connect(autocommit=False) as holder:
        holder.execute("lock table register.import_upload in exclusive mode")

        def both(reg: RegisterDatabase) -> bool:
            if uploads(reg):
                reg.conn.execute("select register.create_import_job('legal_unit_source_dates')")
                return True
            return False

        _, told = interrupt(reg_db, both, "import", str(file), *UNIT)
    assert "find it with 'catchment register import-job list'" in told
    assert "job 1" not in told


@pytest.mark.parametrize("options", [("--wait",), ("--wait", "--json")], ids=" ".join)
def test_an_interrupted_wait_without_a_worker_says_that_the_job_waits(
    reg_db: RegisterDatabase, reg_cli: Cli, file: Path, options: tuple[str, ...]
) -> None:
    _, told = interrupt(reg_db, follows, "import", str(file), *UNIT, *options)
    follow = "catchment register import-job show 1"
    assert told.endswith(f"Job 1 waits on the server for a worker: run 'catchment worker'. Follow it: {follow}")
    assert "upload completed" in reg_cli("import-job", "show", "1").stdout


@pytest.mark.slow
def test_an_interrupted_wait_says_that_the_job_continues(reg_db: RegisterDatabase, file: Path) -> None:
    with reg_db.connect(autocommit=False) as holder:
        holder.execute("lock table register.import_data in exclusive mode")
        reg_db.start_worker("--queue", "import")
        wait_until(lambda: reg_db.value("select register.is_served('import')"))
        _, told = interrupt(reg_db, follows, "import", str(file), *UNIT, "--wait", "--json")
    assert told.endswith("Job 1 continues on the server. Follow it: catchment register import-job show 1")
    wait_until(lambda: reg_db.job(1)["state"] == "finished")


@pytest.mark.slow
def test_ctrl_c_with_a_worker_started_here_names_the_job(reg_db: RegisterDatabase, file: Path) -> None:
    """A terminal sends the signal to both."""
    command = [sys.executable, "-m", "catchment", "register", "import", str(file), *UNIT, "--work", "--json"]
    with reg_db.connect(autocommit=False) as holder:
        holder.execute("lock table register.import_data in exclusive mode")
        with subprocess.Popen(
            [*command, "--dsn", reg_db.dsn],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # A shell ignores the signal for what runs in the background, and that is inherited.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process:
            try:
                wait_until(lambda: is_seen(reg_db, "wait_event_type = 'Lock'") and follows(reg_db))
                os.killpg(process.pid, signal.SIGINT)
                holder.rollback()
                _, told = process.communicate(timeout=60)
            finally:
                process.kill()
    assert process.returncode == 130
    assert "catchment register import-job show 1" in told
    assert "Traceback" not in told
