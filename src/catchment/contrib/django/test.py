"""For tests of a Django project: run tasks without a worker, in the transaction of a ``TestCase``::

    from catchment.contrib.django.test import drain


    class CheckoutTest(TestCase):
        def test_a_receipt_is_sent(self):
            self.client.post("/checkout/", {"article": "ink"})
            self.assertEqual(drain(), {"completed": 1})
            self.assertEqual(len(mail.outbox), 1)

Handlers run in the thread of the test, where they see what the test has written.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, ParamSpec

from asgiref.sync import async_to_sync, sync_to_async
from django.db import connections, transaction
from psycopg.pq import TransactionStatus

from catchment.contrib.django.application import app
from catchment.contrib.django.handlers import IN_TEST, Call
from catchment.contrib.django.settings import read_settings
from catchment.model.check import check_count
from catchment.task.context import Context
from catchment.task.request import Request
from catchment.testing.draining import drain_on
from catchment.testing.here import PoolsHere, check_app
from catchment.testing.inline import run_inline_on
from catchment.testing.run import Run

P = ParamSpec("P")


def drain(*, max_tasks: int = 10_000) -> dict[str, int]:
    """Run everything that is runnable, and what that makes; returns the number of tasks by state.

    As ``catchment.testing.drain``, on Django's connection: in a ``TestCase`` it is rolled back with the test. Outside a
    transaction, as in a ``TransactionTestCase``, it opens one and commits it.
    """
    check_app(app)
    check_count(max_tasks, name="max_tasks")
    atomic: Any = transaction.atomic
    handler: Any = connections
    with _in_test() as alias, atomic(using=alias):
        conn = handler[alias]
        conn.ensure_connection()
        return async_to_sync(drain_on)(app, conn.connection, PoolsOfTest(app.commands), max_tasks)


def run_inline(command: Request[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Run:
    """Run a command, its children, its join and its follow-ups, without the engine.

    As ``catchment.testing.run_inline``, except that handlers can use Django's connection, in the transaction of the
    test.
    """
    check_app(app)
    with _in_test():
        return async_to_sync(run_inline_on)(app, PoolsOfTest(app.commands), command, args, kwargs)


class PoolsOfTest(PoolsHere):
    """Plain handlers run in the thread of the test, which has the connection with its transaction."""

    async def run_in_thread(
        self,
        fn: Callable[..., Any],
        bound: dict[str, Any],
        *,
        waits: Callable[[], bool],  # noqa: ARG002 - nothing stops a handler here
        starts: Callable[[], None],
    ) -> Any:
        starts()
        return await sync_to_async(fn)(**bound)


@contextmanager
def _in_test() -> Generator[str]:
    alias = read_settings().database

    async def run(ctx: Context, call: Call) -> Any:
        return await _guarded(alias, ctx, call)

    token = IN_TEST.set(run)
    try:
        yield alias
    finally:
        IN_TEST.reset(token)


async def _guarded(alias: str, ctx: Context, call: Call) -> Any:
    """Run a handler behind a savepoint: in a worker, a statement that fails does not break what comes after it. It is
    not released: ``ctx.transaction()`` may have one inside of it, for what is done after the handler."""
    savepoint = await sync_to_async(_save)(alias)
    try:
        return await call()
    except BaseException:
        await sync_to_async(_mend)(alias, savepoint, undoes_itself=ctx.has_transaction)
        raise


def _save(alias: str) -> str | None:
    conn: Any = connections[alias]
    return conn.savepoint() if conn.in_atomic_block else None


def _mend(alias: str, savepoint: str | None, *, undoes_itself: bool) -> None:
    """Undo a failed transaction as far as the savepoint. What was written before another error stays, as in a worker,
    where each statement commits."""
    conn: Any = connections[alias]
    if savepoint is None or not (conn.needs_rollback or _has_failed(conn)):
        return
    conn.set_rollback(False)
    if not undoes_itself:
        conn.savepoint_rollback(savepoint)


def _has_failed(conn: Any) -> bool:
    return conn.connection.info.transaction_status == TransactionStatus.INERROR
