"""Single keys from the terminal, without Enter and without being shown."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from types import TracebackType


class Keys:
    """Within ``with``, ``wait`` gives keys as they are pressed. Without a terminal as standard input there are none."""

    def __init__(self) -> None:
        self._file = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None  # pyright: ignore[reportUnnecessaryComparison] - it may be closed: <&-
        self._before: list[object] | None = None

    def __enter__(self) -> Keys:
        if self._file is not None:
            self._before = termios.tcgetattr(self._file)
            tty.setcbreak(self._file)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None and self._before is not None:
            termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)  # pyright: ignore[reportArgumentType] - as it came

    def wait(self, seconds: float) -> str | None:
        """The next key, or None if there was none for so long, or the terminal is closed."""
        if self._file is None:
            time.sleep(max(0.0, seconds))
            return None
        ready, _, _ = select.select([self._file], [], [], max(0.0, seconds))
        if not ready:
            return None
        pressed = os.read(self._file, 16).decode(errors="replace")
        if not pressed:
            self._file = None
        return pressed or None
