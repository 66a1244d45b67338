"""Each command of the command line works for members of the role that is documented for it; others learn which one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from psycopg.conninfo import make_conninfo

from tests.fixtures import spare
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

RunAs = Callable[..., subprocess.CompletedProcess[str]]

ENQUEUE = ["enqueue", "act", "{}"]
READS = [
    ["task", "list"],
    ["task", "show", "TASK"],
    ["task", "why", "TASK"],
    ["task", "tree", "TASK"],
    ["queue", "list"],
    ["command", "list"],
    ["doctor"],
]
WORKS = [
    ["worker", "--queue", "work", "--stop-when-idle"],
    ["task", "cancel", "TASK"],
    ["queue", "pause", "work"],
    ["queue", "resume", "work"],
]


@pytest.fixture
def run_as(db: str, connect: Connect, committed: Engine) -> Iterator[RunAs]:
    """Runs ``catchment`` as a user that is a member of one role of Catchment, or of none."""
    user = f"member {uuid4().hex}"
    admin = connect()
    admin.execute(f'create role "{user}" login')
    task = committed.enqueue()

    def run(role: str | None, *arguments: str, setting: str | None = None) -> subprocess.CompletedProcess[str]:
        if role is not None:
            admin.execute(f'grant {role} to "{user}"')
        if setting is not None:
            admin.execute(f'alter role "{user}" set {setting}')
        environment = dict(os.environ) | {"CATCHMENT_DSN": make_conninfo(db, user=user), "COLUMNS": "300"}
        filled = [str(task) if a == "TASK" else a for a in arguments]
        return spare.run(*filled, environment=environment, timeout=120)

    yield run
    admin.execute(f'drop owned by "{user}"; drop role "{user}"')


@pytest.mark.parametrize(
    ("role", "arguments"),
    [
        ("catchment_enqueue", ENQUEUE),
        *(("catchment_read", read) for read in READS),
        *(("catchment_worker", command) for command in [ENQUEUE, *WORKS]),
        # It may do what readers may.
        *(pytest.param("catchment_worker", read, marks=pytest.mark.long) for read in READS),
    ],
)
def test_members_of_the_documented_role_may(run_as: RunAs, role: str, arguments: list[str]) -> None:
    done = run_as(role, *arguments)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("role", "arguments", "needed"),
    [
        (None, ENQUEUE, "catchment_enqueue"),
        ("catchment_read", ENQUEUE, "catchment_enqueue"),
        *(("catchment_enqueue", read, "catchment_read") for read in READS[:2]),
        *(pytest.param("catchment_enqueue", read, "catchment_read", marks=pytest.mark.long) for read in READS[2:]),
        *(("catchment_read", work, "catchment_worker") for work in WORKS),
        ("catchment_enqueue", WORKS[0], "catchment_worker"),
        (None, WORKS[0], "catchment_worker"),
    ],
)
def test_the_error_for_others_names_the_role_they_need(
    run_as: RunAs, role: str | None, arguments: list[str], needed: str
) -> None:
    done = run_as(role, *arguments)
    assert done.returncode == 1
    assert "may not do that" in done.stderr
    assert f'grant {needed} to "member ' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("setting", "hint"),
    [("default_transaction_read_only = on", "reset default_transaction_read_only"), ("statement_timeout = 1", "short")],
)
@pytest.mark.parametrize("arguments", [ENQUEUE, WORKS[0]], ids=["enqueue", "worker"])
def test_settings_that_let_nothing_work_are_named(
    run_as: RunAs, committed: Engine, arguments: list[str], setting: str, hint: str
) -> None:
    # So slow that no machine gets through in the time.
    committed.conn.execute(
        "create function probe.slow() returns trigger language plpgsql as"
        " $$ begin perform pg_sleep(0.1); return null; end $$;"
        "create trigger slow before insert on worker.worker execute function probe.slow();"
        "create trigger slow before insert on worker.task execute function probe.slow();"
    )
    done = run_as("catchment_worker", *arguments, setting=setting)
    assert done.returncode == 1
    assert hint in done.stderr
    assert "Traceback" not in done.stderr
