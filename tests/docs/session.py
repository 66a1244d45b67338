"""A session of Python in which the blocks of a page run one after another, as in ``python -m asyncio``.

As a program it runs in the Python of another environment, so it needs the standard library alone: each line that it
reads is a block in JSON, and each line that it writes what that has printed and how it ended.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import json
import sys
from typing import Any


class Session:
    """The names of a page, and the event loop of its ``await``."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.names: dict[str, Any] = {"__name__": "page"}
        self._runner = runner

    def run(self, text: str) -> str:
        """Run a block; returns what it prints."""
        code = compile(text, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            ended = eval(code, self.names)  # noqa: S307 - our own pages
            if inspect.iscoroutine(ended):
                self._runner.run(ended)
        return said.getvalue()


def main() -> None:
    with asyncio.Runner() as runner:
        session = Session(runner)
        for line in sys.stdin:
            answer: dict[str, Any]
            try:
                answer = {"printed": session.run(json.loads(line))}
            except Exception as error:
                answer = {"kind": type(error).__name__, "message": str(error)}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
