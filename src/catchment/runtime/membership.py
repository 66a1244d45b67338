"""Registers this process as a worker, keeps it alive by heartbeat and upkeep, and unregisters it at the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import psycopg

from catchment.errors import CatchmentError, ServerUnavailable
from catchment.runtime.connection import Call
from catchment.runtime.events import Events
from catchment.runtime.heartbeat import Heartbeat
from catchment.runtime.options import WorkerOptions
from catchment.runtime.pools import run_in_own_thread
from catchment.runtime.pulse import Pulse
from catchment.runtime.upkeep import Upkeep
from catchment.store import worker as worker_store
from catchment.store.connect import connect_async
from catchment.store.embedded import FolderGone

FAREWELL_SECONDS = 5.0


class AlreadyRunning(CatchmentError):
    """Another worker runs the top level of a serial queue, and this one was started with ``--single``."""


class Membership:
    """``on_dead`` is called in the event loop when the database has declared the worker dead, ``on_gone`` when there is
    no database any more, ``on_hooks`` when after hooks are due, ``on_tick`` at each heartbeat. ``interrupted`` returns
    the tasks that ran when the worker failed. ``on_asked`` is called when an operator asks for something else;
    ``asked`` is the state that was requested of this process before. ``on_call`` is called with what each heartbeat
    answers. ``is_idle``: nothing runs here, and nothing has for a while. ``python_queues`` are those whose Python
    commands it runs, ``python_commands`` the commands it has, ``schedules`` those of its code."""

    def __init__(
        self,
        dsn: str,
        options: WorkerOptions,
        events: Events,
        pulse: Pulse,
        *,
        on_dead: Callable[[], None],
        on_gone: Callable[[FolderGone], None],
        on_hooks: Callable[[], None],
        on_tick: Callable[[], None],
        on_asked: Callable[[worker_store.Asked | None], None],
        asked: worker_store.Asked | None,
        on_call: Callable[[worker_store.Call], None],
        is_idle: Callable[[], bool],
        report: Callable[[], worker_store.Capacity],
        interrupted: Callable[[], list[int]],
        python_queues: Sequence[str] = (),
        python_commands: Sequence[str] = (),
        schedules: Sequence[dict[str, Any]] = (),
    ) -> None:
        self._dsn = dsn
        self._options = options
        self._events = events
        self._pulse = pulse
        self._on_dead = on_dead
        self._on_gone = on_gone
        self._on_hooks = on_hooks
        self._on_tick = on_tick
        self._on_asked = on_asked
        self._asked: worker_store.Asked | None = asked
        self._on_call = on_call
        self._is_idle = is_idle
        self._report = report
        self._interrupted = interrupted
        self._python_queues = python_queues
        self._python_commands = python_commands
        self._schedules = schedules
        self._tick_due: float | None = None
        self._lag = 0.0
        self._heartbeat: Heartbeat | None = None

    @asynccontextmanager
    async def joined(
        self, queues: list[worker_store.Queue], capacity: int
    ) -> AsyncGenerator[worker_store.WorkerIdentity]:
        """Be a registered worker of these queues inside this block; raises ``AlreadyRunning`` with ``--single``, if
        another worker runs one of them."""
        identity = await self._register(queues, capacity)
        loop = asyncio.get_running_loop()

        def declare_dead() -> None:
            loop.call_soon_threadsafe(self._on_dead)

        def declare_gone(error: FolderGone) -> None:
            loop.call_soon_threadsafe(self._on_gone, error)

        def pass_on(asked: worker_store.Asked | None) -> None:
            loop.call_soon_threadsafe(self._on_asked, asked)

        def take_call(call: worker_store.Call) -> None:
            upkeep.keeps = call.keeps
            loop.call_soon_threadsafe(self._on_call, call)

        heartbeat = self._heartbeat = Heartbeat(
            self._dsn,
            identity,
            self._options.lease,
            self._events,
            on_dead=declare_dead,
            on_gone=declare_gone,
            on_asked=pass_on,
            on_call=take_call,
            report=self._measured,
            is_alive=lambda: self._is_alive(loop),
        )
        upkeep = Upkeep(
            self._dsn,
            self._options.upkeep_interval,
            self._events,
            self._pulse,
            on_hooks=lambda: loop.call_soon_threadsafe(self._on_hooks),
            is_idle=self._is_idle,
        )
        await run_in_own_thread(heartbeat.start)
        upkeep.start()
        served = [q.name for q in queues if q.has_sql or q.name in self._python_queues]
        self._events.emit(
            "worker.started",
            f"worker {identity.worker_id} serves {', '.join(served) or 'no queue yet'}",
            worker_id=identity.worker_id,
        )
        try:
            yield identity
        finally:
            await run_in_own_thread(upkeep.stop)
            await run_in_own_thread(heartbeat.stop)
            await self._unregister(identity)
            self._events.emit(
                "worker.stopped", f"worker {identity.worker_id} has stopped", worker_id=identity.worker_id
            )

    async def _register(self, queues: list[worker_store.Queue], capacity: int) -> worker_store.WorkerIdentity:
        options = self._options
        async with await connect_async(self._dsn, name="catchment worker") as conn:
            with Call(conn, options.call_timeout.total_seconds()):
                # Together: a worker whose schedules are refused does not exist, and one that is paused is never seen
                # without that.
                async with conn.transaction():
                    identity = await worker_store.register(
                        conn,
                        options.name,
                        [q.name for q in queues],
                        capacity=capacity,
                        lease=options.lease,
                        has_lock=options.has_session_lock,
                        python_queues=self._python_queues,
                        python_commands=self._python_commands,
                    )
                    if self._schedules:
                        await worker_store.declare_schedules(conn, identity, self._schedules)
                    if self._asked is not None:
                        await worker_store.ask_again(conn, identity, self._asked)
                if not options.is_single:
                    return identity
                busy = await worker_store.take_top(conn, identity, [q.name for q in queues if q.is_serial])
                if busy is None:
                    return identity
                await worker_store.unregister(conn, identity)
        raise AlreadyRunning(
            f"another worker runs the top level of queue {busy!r}",
            hint="Without --single this worker would serve its children and stand by.",
        )

    async def _unregister(self, identity: worker_store.WorkerIdentity) -> None:
        """Release the remaining tasks. If the database does not answer, they are released when the lease ends."""
        with suppress(psycopg.Error, ServerUnavailable):
            conn = await connect_async(self._dsn)
            try:
                with Call(conn, FAREWELL_SECONDS):
                    await worker_store.unregister(conn, identity, self._interrupted())
            finally:
                await conn.close()

    def is_connected(self) -> bool:
        """Has the database answered within the lease, and is there a connection now?"""
        beat = self._heartbeat
        if beat is None or beat.beat_at is None or not beat.is_connected:
            return False
        return time.monotonic() - beat.beat_at < self._options.lease.total_seconds()

    def ring(self) -> None:
        """Read now what an operator asks for."""
        if self._heartbeat is not None:
            self._heartbeat.ring()

    def _measured(self) -> worker_store.Capacity:
        """With how late the event loop is: with its last turn for us, or for so long as it owes us one."""
        capacity = self._report()
        due = self._tick_due
        late = max(self._lag, 0.0 if due is None else time.monotonic() - due, capacity.loop_lag or 0.0)
        return replace(capacity, loop_lag=late)

    def _is_alive(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Is the event loop of the worker running? Called by the heartbeat, in its thread, for each beat."""
        due = self._tick_due = self._tick_due or time.monotonic()
        loop.call_soon_threadsafe(self._tick)
        return time.monotonic() - due < self._options.stall_limit.total_seconds()

    def _tick(self) -> None:
        if self._tick_due is not None:
            self._lag, self._tick_due = time.monotonic() - self._tick_due, None
        self._on_tick()
