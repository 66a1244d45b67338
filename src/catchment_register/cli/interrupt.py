"""What Ctrl-C leaves behind of an import, said on standard error: the command ends, the job stays on the server."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection

from catchment import CatchmentError
from catchment.commands import errors
from catchment_register.cli.database import connect_register
from catchment_register.dates import read_open_ends
from catchment_register.watch import ENDED, find_job, is_served

# Unlike now(), it is what a job has as its time of creation. The jobs are those of this user since that time.
_NOW = "select clock_timestamp()"
_CREATED_SINCE = "select id from register.import_job_progress where created_by = session_user and created_at >= %s"
# Nothing is known of its job, or others import at the same time as the same user.
_UNKNOWN_JOB = (
    "The upload was interrupted, and no row of it is stored. If its job was created, it waits for an upload:"
    " find it with 'catchment register import-job list', and delete it with 'catchment register import-job delete'"
)

Describe = Callable[[Connection[Any]], str]


@contextmanager
def upload_interrupted(conn: Connection[Any], dsn: str | None) -> Generator[None]:
    """At Ctrl-C during an upload, say which job was created and has no rows."""
    began = conn.execute(_NOW).fetchone()

    def describe(other: Connection[Any]) -> str:
        jobs = [row[0] for row in other.execute(_CREATED_SINCE, began).fetchall()]
        return _state(other, jobs[0]) if len(jobs) == 1 else _UNKNOWN_JOB

    with _interrupted(conn, dsn, describe, _UNKNOWN_JOB):
        yield


@contextmanager
def job_interrupted(conn: Connection[Any], dsn: str | None, job_id: int) -> Generator[None]:
    """At Ctrl-C after the upload, say whether the job continues."""
    with _interrupted(conn, dsn, lambda other: _state(other, job_id), f"Job {job_id} is uploaded. {_follow(job_id)}"):
        yield


@contextmanager
def _interrupted(conn: Connection[Any], dsn: str | None, describe: Describe, unknown: str) -> Generator[None]:
    try:
        yield
    except (KeyboardInterrupt, psycopg.Error, CatchmentError) as error:
        if not _is_interrupt(error):
            raise
        # Its last statement may not have ended. Therefore another connection is asked.
        conn.close()
        try:
            with connect_register(dsn) as other:
                read_open_ends(other)
                text = describe(other)
        except (psycopg.Error, CatchmentError):
            text = unknown
        errors.print(text, markup=False)
        raise KeyboardInterrupt from error


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether it is Ctrl-C, or an error after it: what tidies up cannot use a connection whose last statement has not
    ended."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _state(conn: Connection[Any], job_id: int) -> str:
    job = find_job(conn, job_id)
    if job is None:
        return f"Job {job_id} was deleted."
    if job["state"] == "waiting_for_upload":
        delete = f"catchment register import-job delete {job_id}"
        return f"The upload was interrupted: job {job_id} has no rows. Delete it: {delete}"
    if job["state"] in ENDED:
        return f"Job {job_id} is {job['state'].replace('_', ' ')}. {_follow(job_id)}"
    if is_served(conn, "import"):
        return f"Job {job_id} continues on the server. {_follow(job_id)}"
    return f"Job {job_id} waits on the server for a worker: run 'catchment worker'. {_follow(job_id)}"


def _follow(job_id: int) -> str:
    return f"Follow it: catchment register import-job show {job_id}"
