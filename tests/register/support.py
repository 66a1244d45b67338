"""What the register's tests share: refusals, and two sessions that meet."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from tests.fixtures.register_driver import Register, RegisterDatabase
from tests.fixtures.worker import wait_until

Caught = pytest.ExceptionInfo[psycopg.Error]


@contextmanager
def refused(reg: Register, *sqlstates: str) -> Iterator[Caught]:
    """The block is refused with one of these SQLSTATEs; the transaction around it continues."""
    with pytest.raises(psycopg.Error) as caught, reg.conn.transaction():
        yield caught
    assert caught.value.sqlstate in sqlstates, caught.value


def message(caught: Caught) -> str:
    return caught.value.diag.message_primary or ""


def meet(reg: RegisterDatabase, first: str, second: str) -> str | None:
    """One session writes and stays open; another one writes and has to wait for it; the first commits.

    Returns the SQLSTATE that the second got, or None if it succeeded. Fails if the second does not wait.
    """
    one, two = reg.connect(autocommit=False), reg.connect()
    two.execute("set lock_timeout = '30s'")
    pid = two.info.backend_pid
    one.execute(first)
    with ThreadPoolExecutor(1) as threads:
        coming = threads.submit(two.execute, second)
        wait_until(
            lambda: (
                coming.done() or reg.value("select wait_event_type = 'Lock' from pg_stat_activity where pid = %s", pid)
            )
        )
        was_done = coming.done()
        one.commit()
        error = coming.exception()
    answer = error.sqlstate if isinstance(error, psycopg.Error) else error
    assert not was_done, f"did not wait, and got {answer}"
    assert answer is None or isinstance(answer, str), answer
    return answer
