"""Errors of database calls are sorted by what to do about them; endings that were deferred are tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest
from psycopg import errors

from catchment.cli.failure import show_failure
from catchment.errors import CancelRequested, ServerUnavailable
from catchment.runtime import deferred
from catchment.runtime.completer import Completer
from catchment.runtime.connection import Link
from catchment.runtime.deferred import Deferred
from catchment.runtime.recorder import Batch, Later, Recorder
from catchment.store import connect
from catchment.store.attempt import Attempt, Ending
from catchment.store.errors import Fault, fault_of


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (psycopg.OperationalError("server closed the connection unexpectedly"), Fault.LOST),
        (psycopg.InterfaceError("the connection is closed"), Fault.LOST),
        (ServerUnavailable("no connection"), Fault.LOST),
        (ConnectionResetError(), Fault.LOST),
        (TimeoutError(), Fault.LOST),
        (errors.ConnectionFailure(), Fault.LOST),
        (errors.AdminShutdown(), Fault.LOST),
        (errors.CrashShutdown(), Fault.LOST),
        (errors.CannotConnectNow(), Fault.LOST),
        (errors.IdleInTransactionSessionTimeout(), Fault.LOST),
        (errors.TooManyConnections(), Fault.LATER),
        (errors.DiskFull(), Fault.LATER),
        (errors.OutOfMemory(), Fault.LATER),
        (errors.QueryCanceled(), Fault.LATER),
        (errors.LockNotAvailable(), Fault.LATER),
        (errors.DeadlockDetected(), Fault.LATER),
        (errors.SerializationFailure(), Fault.LATER),
        (errors.ReadOnlySqlTransaction(), Fault.LATER),
        (errors.InsufficientPrivilege(), Fault.LATER),
        (errors.UndefinedFunction(), Fault.LATER),
        (errors.FeatureNotSupported(), Fault.LATER),
        (errors.InternalError_(), Fault.LATER),
        (errors.ProgramLimitExceeded(), Fault.BAD),
        (errors.StatementTooComplex(), Fault.BAD),
        (errors.UntranslatableCharacter(), Fault.BAD),
        (errors.CheckViolation(), Fault.BAD),
        (errors.RaiseException(), Fault.BAD),
        (psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes"), Fault.BAD),
        (CancelRequested("its scope is cancelled"), Fault.BAD),
        (ValueError(), Fault.BAD),
    ],
)
def test_an_error_is_lost_bad_or_for_later(error: Exception, fault: Fault) -> None:
    assert fault_of(error) is fault


def _ending(fence: int) -> Ending:
    return Ending(Attempt((1, fence, "act", "{}", 1, 0, None, None, 1, None, 0, 1, True, None, None)))


def test_an_ending_is_deferred_as_long_as_the_database_takes_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(deferred, "time", SimpleNamespace(monotonic=lambda: now))
    waits = Deferred()
    ending = _ending(1)
    for _ in range(50):
        assert waits.add(ending, errors.DiskFull())
        pause = waits.pause()
        assert pause is not None
        assert 0 < pause <= deferred.LAST_PAUSE + 0.001
        assert waits.due() == []
        now += pause + 0.001
        assert waits.due() == [ending]
    waits.recorded()
    assert not waits.add(ending, errors.DiskFull())
    waits.remove(ending)
    assert waits.pause() is None


def test_an_ending_is_tried_several_times_before_it_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(deferred, "time", SimpleNamespace(monotonic=lambda: now))
    waits = Deferred()
    ending = _ending(1)
    tries = 0
    while waits.add(ending, errors.DiskFull()):
        tries += 1
        now += 1
        waits.recorded()
    assert tries == deferred.MOST_TRIES - 1


def test_an_ending_that_waits_for_a_lock_is_never_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(deferred, "time", SimpleNamespace(monotonic=lambda: now))
    waits = Deferred()
    for _ in range(5 * deferred.MOST_TRIES):
        now += 1
        waits.recorded()
        assert waits.add(_ending(1), errors.LockNotAvailable())


class _LosingLink:
    """Serves again after a lost connection, as a link does."""

    async def hold(self, serve: Callable[[Any], Awaitable[None]], _: asyncio.Event) -> None:
        while True:
            with suppress(psycopg.OperationalError):
                await serve(None)
                return


class _LosingRecorder:
    """Records all endings but the first, and loses the connection when that one is given up for the first time."""

    def __init__(self) -> None:
        self.calls: list[Ending] = []

    async def write(self, batch: Batch, endings: Sequence[Ending]) -> None:
        batch.later += [Later(ending, errors.DiskFull()) for ending in endings if ending.attempt.fence == 1]

    def report_deferred(self, _deferred: Sequence[Later]) -> None:
        """Log nothing."""

    async def give_up(self, _batch: Batch, ending: Ending, _error: Exception) -> None:
        self.calls.append(ending)
        if len(self.calls) == 1:
            raise psycopg.OperationalError("server closed the connection unexpectedly")


def test_an_ending_is_kept_when_the_connection_is_lost_as_it_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred, "MOST_TRIES", 1)
    monkeypatch.setattr(deferred, "FIRST_PAUSE", 0.0)
    recorder = _LosingRecorder()

    async def record(*endings: Ending) -> None:
        completer = Completer(cast(Link, _LosingLink()), lambda _: cast(Recorder, recorder), is_direct=False)
        for ending in endings:
            completer.submit(ending)
        completer.close()
        await completer.run()
        assert completer.is_empty

    bad = _ending(1)
    asyncio.run(record(bad, _ending(2)))
    assert recorder.calls == [bad, bad]


def test_a_full_disk_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    show_failure(errors.DiskFull("could not extend file\nCONTEXT:  SQL statement of the engine"))
    shown = capsys.readouterr().err
    assert "The disk of the server is full" in shown
    assert "CONTEXT" not in shown
    refused = connect.unavailable("host=x", psycopg.OperationalError("FATAL: init file: No space left on device"))
    assert "The disk of the server is full" in str(refused.hint)
