"""The process that stays: starts the child, replaces it when files change, and ends it with itself."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from catchment.cli.dev import outputs
from catchment.cli.dev.dashboard import DevDashboard
from catchment.cli.dev.files import Watch
from catchment.cli.dev.line import BROKEN, Message, Order

POLL = 0.5
# A change is over when nothing has changed for this long: programs write several files, one after another.
SETTLE = 0.1
# Seconds that a child gets to end: at a stop, and at a reload, where running tasks may finish.
STOP_SECONDS = 4.0
RELOAD_SECONDS = 12.0
FIRST_PAUSE = 1.0
LAST_PAUSE = 30.0
# A child that ran for this long did not die at once.
LONG = 10.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Child:
    """A fresh interpreter that runs the worker."""

    def __init__(self, order: Order) -> None:
        self.started = time.monotonic()
        self.line, theirs = socket.socketpair()
        command = [sys.executable, "-m", "catchment.cli.dev.child", str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])  # noqa: S603 - ourselves
        theirs.close()
        self.line.settimeout(0)
        self._rest = b""
        self.has_hung_up = False
        self.tell({**order})

    def tell(self, message: Message) -> None:
        with suppress(OSError):  # it has gone
            self.line.sendall(json.dumps(message).encode() + b"\n")

    def heard(self) -> list[Message]:
        """What it has said since the last call."""
        with suppress(BlockingIOError, ConnectionResetError):
            while data := self.line.recv(1 << 16):
                self._rest += data
            self.has_hung_up = True
        *lines, self._rest = self._rest.split(b"\n")
        return [json.loads(line) for line in lines]

    def code(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class Supervisor:
    """``say`` shows a line to the user. Without ``dashboard`` none is served."""

    def __init__(self, order: Order, say: Callable[[str], None], dashboard: DevDashboard | None) -> None:
        self._order = order
        self._say = say
        self._dashboard = dashboard
        self._files = Watch()
        self._asked = 0
        self._has_served = False

    def run(self) -> int:
        """Serve until a signal asks for the end; returns the exit code."""
        try:
            return self._serve()
        finally:
            if self._dashboard is not None:
                self._dashboard.stop()

    def _serve(self) -> int:
        with self._signals() as bell:
            pause = FIRST_PAUSE
            while True:
                self._files.begin(time.time_ns())
                child = Child(self._order)
                self._order["is_first"] = False
                try:
                    code = self._watch(child, bell)
                finally:
                    child.kill()
                    child.line.close()
                if self._asked:
                    return 0 if self._asked == 1 else 130
                if code is None:  # replaced
                    continue
                if code in (1, 2, 3) and not self._has_served:
                    return code
                if code in (1, 2, 3, BROKEN):
                    self._say("waits for a change of the files")
                    self._wait(bell, None)
                    continue
                pause = FIRST_PAUSE if time.monotonic() - child.started > LONG else min(pause * 2, LAST_PAUSE)
                self._say(f"the worker ended {_how(code)}: it starts again in {pause:.0f} s, or after a change")
                self._wait(bell, pause)

    @contextmanager
    def _signals(self) -> Generator[socket.socket]:
        """Count signals, which also ring the socket that this gives."""
        bell, ringer = socket.socketpair()
        ringer.setblocking(False)

        def hear(*_: object) -> None:
            self._asked += 1

        heard = [n for n in SIGNALS if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN]  # nohup
        before = {number: signal.signal(number, hear) for number in heard}
        wakeup = signal.set_wakeup_fd(ringer.fileno(), warn_on_full_buffer=False)
        try:
            yield bell
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            bell.close()
            ringer.close()

    def _watch(self, child: Child, bell: socket.socket) -> int | None:
        """Wait until the child has ended; returns its code, or None if it was replaced because files have changed."""
        deadline = None
        is_told = is_replaced = False
        while True:
            is_ending = child.has_hung_up or deadline is not None
            self._sleep(bell, *(() if child.has_hung_up else (child.line,)), seconds=0.02 if is_ending else POLL)
            self._hear(child)
            code = child.code()
            if code is not None:
                self._hear(child)
                return None if is_replaced else code
            if self._asked and not is_told:
                is_told = True
                self._say("stopping; a second Ctrl-C or signal kills it")
                if self._dashboard is not None:
                    self._dashboard.stop()
                child.tell({"stop": "now"})
                deadline = time.monotonic() + STOP_SECONDS
            elif not is_told and not is_replaced and (changed := self._changed()):
                is_replaced = True
                self._say(f"{_names(changed)} changed: reloading")
                child.tell({"stop": "finish"})
                deadline = time.monotonic() + RELOAD_SECONDS
            if self._asked > 1 or (deadline is not None and time.monotonic() > deadline):
                child.kill()

    def _sleep(self, bell: socket.socket, *lines: socket.socket, seconds: float) -> None:
        """Wait for a signal, for what one of these lines says, or for this long.

        If nobody reads the outputs any more, whatever a handler prints would fail it: that counts as a signal.
        """
        poll = select.poll()
        for line in (bell, *lines):
            poll.register(line, select.POLLIN)
        if not self._asked:
            outputs.register(poll)
            if self._dashboard is not None:
                self._dashboard.register(poll)
        events = dict(poll.poll(seconds * 1000))
        if bell.fileno() in events:
            bell.recv(100)
        if not self._asked and outputs.are_gone(events):
            self._asked = 1
        if self._dashboard is not None and not self._asked:
            self._dashboard.hear()

    def _hear(self, child: Child) -> None:
        for message in child.heard():
            self._files.add(message.get("files", []))
            if "since" in message:
                self._order["since"] = message["since"]
            if "database" in message and self._dashboard is not None:
                self._dashboard.show(message["database"])
            self._has_served = self._has_served or message.get("serves", False)

    def _changed(self, *, with_new: bool = False) -> list[str]:
        """The files that have changed, once all are written."""
        last: list[str] = []
        changed = self._files.changed() + (self._files.added() if with_new else [])
        while changed and changed != last:
            last = changed
            time.sleep(SETTLE)
            changed = sorted({*changed, *self._files.changed()})
        return changed

    def _wait(self, bell: socket.socket, seconds: float | None) -> None:
        """Wait for a change, for a signal, or for this long."""
        until = None if seconds is None else time.monotonic() + seconds
        while not self._asked and (until is None or time.monotonic() < until):
            if changed := self._changed(with_new=True):
                self._say(f"{_names(changed)} changed: reloading")
                return
            self._sleep(bell, seconds=POLL)


def _names(paths: list[str]) -> str:
    names = [os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path for path in paths]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _how(code: int) -> str:
    return f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
