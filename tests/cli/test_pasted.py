"""Commands that we print can be pasted into a shell, whatever names are in them, and text of users moves no cursor."""

from __future__ import annotations

import logging
import os
import re
import subprocess

import pytest

from catchment.model.terminal import shell_command
from catchment.runtime.log import TextFormatter
from tests.fixtures import spare
from tests.fixtures.engine import Engine

NAMES = [
    "plain",
    "order 17",
    "two  spaces",
    "-x",
    "--help",
    "it's",
    'a "b" $HOME `id` \\n !!',
    "[bold]x",
    "ünï 东",
    "line\nbreak 'quoted' \\",
    "tab\tx",
    "\x1b[31mred\x7f0",
    "right-to-left \u202e\u200b\xa0\x85",
]


def _words(command: str) -> list[str]:
    """What bash makes of a command line."""
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("name", NAMES)
def test_a_shell_reads_the_names_of_a_command_as_they_are(name: str, engine: Engine) -> None:
    command = shell_command("catchment lane skip", "mail", name)
    assert command.isprintable()
    end = ["--"] if name.startswith("-") else []
    assert _words(command) == ["catchment", "lane", "skip", *end, "mail", name]
    assert engine.value("select worker.shell_command('catchment lane skip', 'mail', %s)", name) == command


def test_commands_for_halted_lanes_work_when_pasted(committed: Engine, db: str) -> None:
    committed.queue("-q", mode="concurrent")
    committed.command("deliver", "-q")
    lanes = ["-x", "two  spaces", "line\nbreak \x1b[31m"]
    bad = [committed.enqueue("deliver", lane=lane, fail="no such street") for lane in lanes]
    for lane in lanes:
        committed.enqueue("deliver", lane=lane)
    committed.drain("-q")
    environment = os.environ | {"CATCHMENT_DSN": db, "COLUMNS": "400"}
    shown = spare.run("doctor", environment=environment, timeout=60).stdout
    pasted = [command.rstrip() for command in re.findall("catchment (lane skip .*?)  # ", shown, re.DOTALL)]
    assert len(pasted) == len(lanes)
    first = spare.run("task", "show", str(bad[0]), environment=environment, timeout=60).stdout
    assert f"catchment {pasted[0]}  # skip it, so that lane -x continues" in first
    for command in pasted:
        done = spare.run(*_words(command), environment=environment, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
    assert committed.value("select count(*) from worker.lanes where state = 'halted'") == 0


def test_an_error_is_one_line_of_the_log() -> None:
    record = logging.makeLogRecord({"msg": "%s", "args": ("mail 7 failed: zero\n12:00:00 INFO forged\r \x1b[31m",)})
    line = TextFormatter().format(record)
    assert line.isprintable()
    assert line.endswith("mail 7 failed: zero 12:00:00 INFO forged\\r \\x1b[31m")
