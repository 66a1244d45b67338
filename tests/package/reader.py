"""Reads a page as somebody does who has the package and the page: each block is typed or saved in an empty folder.

Files, shells and text are those of ``tests.docs``. Nothing runs in the process of the tests: Python is that of the
environment, in one session, and SQL goes through ``catchment psql``. Blocks of a checkout, which begin with ``make``,
are left.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.docs import session
from tests.docs.live import Shell, check_printed, file_of
from tests.docs.steps import Block, Step, cut, read_blocks
from tests.package.environment import Environment

OPTIONS = ("-X", "-q", "-A", "-t", "-F", " | ", "-P", "null=null", "-v", "VERBOSITY=verbose")
DONE = "the step is done"


class Reader:
    """A shell, a Python and a database of one environment, for one page."""

    def __init__(self, environment: Environment, folder: Path, variables: Mapping[str, str], stack: ExitStack) -> None:
        self._environment = environment
        self._folder = folder
        self._stack = stack
        self._printed = ""
        self._python: subprocess.Popen[str] | None = None
        self._shell = Shell(folder, variables, stack, programs=[str(environment.programs)])

    def read(self, page: Path) -> int:
        """Do everything that the page says; returns how many blocks that were."""
        done = 0
        for block in read_blocks(page.read_text(encoding="utf-8")):
            try:
                done += self._run(block)
            except Exception as problem:
                errors = (self._folder / "stderr").read_text()
                where = f"{page.name}:{block.line}\n{block.text}"
                raise AssertionError(f"{where}\n\n{type(problem).__name__}: {problem}\n{errors}") from problem
        return done

    def type(self, commands: str) -> str:
        """Type something that the page does not show; returns what it prints."""
        return self._shell.run(commands)

    def _run(self, block: Block) -> bool:
        name = file_of(block)
        if name is not None:
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            if re.search(r"^(make |\.venv/)", block.text, re.MULTILINE):
                self._printed = ""
                return False
            self._printed = self._shell.run(block.text)
        elif block.language == "text":
            check_printed(block, self._printed)
        elif block.language == "sql":
            self._check_sql(list(cut(block)))
        elif block.language == "python":
            for step in cut(block):
                self._check_python(step)
        else:
            return False
        return True

    def _check_sql(self, steps: list[Step]) -> None:
        """One session of psql for a block. After each step it writes a mark on both of its streams."""
        marked = "".join(f"{step.code}\n\\echo {DONE}\n\\warn {DONE}\n" for step in steps)
        done = subprocess.run(
            [self._environment.programs / "catchment", "psql", *OPTIONS],
            input=marked,
            capture_output=True,
            text=True,
            cwd=self._folder,
            env=self._variables(),
        )
        printed, errors = done.stdout.split(f"{DONE}\n"), done.stderr.split(f"{DONE}\n")
        assert len(printed) == len(errors) == len(steps) + 1, done.stdout + done.stderr
        for step, rows, error in zip(steps, printed, errors, strict=False):
            if step.raises is None:
                assert "ERROR" not in error, f"{step.code}\n{error}"
                # Statements before the last one may have returned something too.
                last = rows.splitlines()[-len(step.returns) :] if step.returns else []
                assert last == step.returns, f"{step.code}\nreturned:\n{rows}"
            else:
                code, _, words = step.raises.partition(" ")
                assert f"ERROR:  {code}: " in error, error
                assert words in error, error

    def _check_python(self, step: Step) -> None:
        if self._python is None:
            self._python = self._start_python()
        assert self._python.stdin is not None
        assert self._python.stdout is not None
        self._python.stdin.write(json.dumps(step.code) + "\n")
        self._python.stdin.flush()
        answer: dict[str, Any] = json.loads(self._python.stdout.readline())
        if step.raises is not None:
            kind, _, words = step.raises.partition(" ")
            assert (answer.get("kind"), words in answer.get("message", "")) == (kind, True), answer
            return
        assert "printed" in answer, answer
        if step.returns:
            assert answer["printed"].splitlines() == step.returns, f"it printed:\n{answer['printed']}"

    def _variables(self) -> dict[str, str]:
        """Those of the shell: what else is started, is started there."""
        return json.loads(self._shell.run("python -c 'import json, os; print(json.dumps(dict(os.environ)))'"))

    def _start_python(self) -> subprocess.Popen[str]:
        command = [self._environment.programs / "python", session.__file__]
        python = subprocess.Popen(
            command,
            cwd=self._folder,
            # As python -c has the folder on its path, and a program of another folder has not.
            env={**self._variables(), "PYTHONPATH": str(self._folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stack.enter_context((self._folder / "stderr").open("a")),
            text=True,
        )
        self._stack.callback(python.wait)
        for stream in (python.stdout, python.stdin):
            if stream is not None:
                self._stack.callback(stream.close)
        return python
