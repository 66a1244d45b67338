"""Runs a page as a reader would: its files in a folder, its commands in one shell, its Python in one session.

A block that begins with ``# name.py``, ``-- folder/name.sql`` or ``# pyproject.toml`` is that file. Other Python runs
here, with ``await`` at the top level as in ``python -m asyncio``; ``# prints: text`` below it is what it prints,
``# raises: Kind text`` how it ends. A ``text`` block is what the shell block before it prints, except for durations
and the database. SQL runs on a connection that commits.

``catchment`` is run by a forked process, unless a test chooses the installed program.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from catchment import App, Command
from catchment.errors import CatchmentError
from tests.docs.session import Session
from tests.docs.steps import Block, Step, check_sql, cut
from tests.fixtures.spare import spare
from tests.fixtures.worker import wait_until

DONE = "the block is done:"
# Where the program is that people start.
INSTALLED = str(Path(sys.executable).parent)
# What a page may name and a test need not run.
STUBS = "pip() { :; }\n"


class Shell:
    """One bash for the whole page, with job control, so that ``&`` and ``kill %1`` mean what they say."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str], stack: ExitStack, *, programs: Sequence[str] | None = None
    ) -> None:
        first = [str(spare().programs()), INSTALLED] if programs is None else programs
        path = os.pathsep.join([*first, os.environ["PATH"]])
        self._bash = subprocess.Popen(
            ["bash", "--norc", "-m"],
            cwd=folder,
            env={**environment, "PATH": path, "COLUMNS": "120"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stack.enter_context((folder / "stderr").open("w")),
            text=True,
        )
        stack.callback(self._end)
        self.run(STUBS)

    def start_as_installed(self) -> None:
        """From now on ``catchment`` is the installed program, which imports everything each time."""
        self.run(f"PATH={shlex.quote(INSTALLED)}:$PATH")

    def run(self, commands: str) -> str:
        """What the commands print; the last one must succeed."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        self._bash.stdin.write(f"{commands}\necho {DONE} $?\n")
        self._bash.stdin.flush()
        lines: list[str] = []
        for line in self._bash.stdout:
            if line.startswith(DONE):
                assert line == f"{DONE} 0\n", f"{line}{''.join(lines)}"
                return "".join(lines)
            lines.append(line)
        raise AssertionError(f"the shell ended: {''.join(lines)}")

    def _end(self) -> None:
        with contextlib.suppress(AssertionError, BrokenPipeError):
            self.run("jobs -p | xargs -r kill -9; wait; true")
        for stream in (self._bash.stdin, self._bash.stdout):
            if stream is not None:
                stream.close()
        self._bash.wait()


class LivePage:
    """The state of a page while its blocks run, one after another."""

    def __init__(self, dsn: str, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._printed = ""
        self._loop = stack.enter_context(asyncio.Runner())
        self._python = Session(self._loop)
        stack.callback(self._close_apps)
        self._conn = stack.enter_context(psycopg.connect(dsn, autocommit=True))
        self.shell = Shell(folder, {**os.environ, "CATCHMENT_DSN": dsn}, stack)

    def run(self, block: Block) -> None:
        name = file_of(block)
        if name is not None:
            self._write(name, block.text)
        elif block.language == "sql":
            for step in cut(block):
                check_sql(self._conn, step, is_rolled_back=False)
        elif block.language == "sh":
            self._printed = self.shell.run(block.text)
            self._wait_for_processes(block.text)
        elif block.language == "text":
            check_printed(block, self._printed)
        elif block.language == "python":
            for step in cut(block):
                self._check_python(step)

    def _wait_for_processes(self, commands: str) -> None:
        """A refresh is spread over the processes that are there; a reader is slower than they are."""
        wanted = re.search(r"catchment table worker --processes (\d+)", commands)
        if wanted is not None:
            wait_until(lambda: self._conn.execute("select lake.count_workers()").fetchall() >= [(int(wanted[1]),)])

    def _write(self, name: str, text: str) -> None:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if name == "pyproject.toml":
            self._install(tomllib.loads(text)["project"])

    def _install(self, project: dict[str, Any]) -> None:
        """As pip would do for this folder: Python finds its modules, and its entry points."""
        info = self._folder / f"{project['name']}-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
        with (info / "entry_points.txt").open("w") as file:
            for group, entries in project["entry-points"].items():
                file.writelines([f"[{group}]\n", *(f"{name} = {value}\n" for name, value in entries.items())])
        self.shell.run(f"export PYTHONPATH={shlex.quote(str(self._folder))}:$PYTHONPATH")

    def _check_python(self, step: Step) -> None:
        if step.raises is not None:
            kind, _, words = step.raises.partition(" ")
            with pytest.raises((CatchmentError, psycopg.Error)) as caught:
                self._python.run(step.code)
            assert (type(caught.value).__name__, words in str(caught.value)) == (kind, True), caught.value
            return
        said = self._python.run(step.code)
        if step.returns:
            assert said.splitlines() == step.returns, f"it printed:\n{said}"

    def _close_apps(self) -> None:
        values = self._python.names.values()
        apps = [value._client if isinstance(value, Command) else value for value in values]  # pyright: ignore[reportPrivateUsage]
        for app in apps:
            if isinstance(app, App):
                self._loop.run(app.close())


def file_of(block: Block) -> str | None:
    """The file that a block is, by its first line; None if it is to be run."""
    name = re.match(r"(?:#|--) ([\w/]+\.(?:py|sql|toml))\n", block.text)
    return None if name is None else name[1]


def check_printed(block: Block, printed: str) -> None:
    """A block of text is what was printed before it, except for durations and for the database."""
    assert _comparable(printed) == _comparable(block.text), f"it printed:\n{printed}"


def _comparable(text: str) -> list[str]:
    text = re.sub(r"\([^()]+, pid \d+\)", "(h, pid 1)", text)
    text = re.sub(r"\(database \S+ on [^)]+\)", "(database d on h)", re.sub(r"[\d.]+ m?s\b", "0 ms", text))
    return [line.rstrip() for line in text.strip().splitlines()]


@pytest.fixture
def live_page(db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LivePage]:
    """A page about to be run, in a folder and a database of its own."""
    monkeypatch.setenv("CATCHMENT_DSN", db)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    with ExitStack() as stack:
        yield LivePage(db, tmp_path, stack)
    for name in set(sys.modules) - before:
        if (tmp_path / f"{name}.py").exists():
            del sys.modules[name]
