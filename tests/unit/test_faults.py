"""Errors of database calls are sorted by what to do about them; endings that were deferred are tried again."""

from __future__ import annotations

from types import SimpleNamespace

import psycopg
import pytest
from psycopg import errors

from catchment.errors import ServerUnavailable, TaskCancelled
from catchment.runtime import deferred
from catchment.runtime.deferred import Deferred
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
        (TaskCancelled("its scope is cancelled"), Fault.BAD),
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
