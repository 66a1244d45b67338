"""A shell completes commands, also those of plug-ins, and options. It imports only what the words before name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_imports import LIBRARIES, imported
from tests.fixtures.often import often

PROGRAM = Path(sys.executable).parent / "catchment"


def completed(shell: str, line: str) -> set[str]:
    """What the program answers to a shell that asks for the end of a line."""
    words = line.split(" ")
    asked = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    environment = {**os.environ, **asked, "_CATCHMENT_COMPLETE": f"complete_{shell}"}
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    if shell == "zsh":
        return {*re.findall(r'[(\n]"([\w-]+)"', done.stdout)}
    return {part.partition("\t")[0] for part in done.stdout.splitlines()}


@pytest.mark.long
@pytest.mark.parametrize("shell", often("zsh", now_and_then=["bash", "fish"]))
def test_each_shell_gets_the_commands_of_plug_ins(shell: str) -> None:
    assert completed(shell, "catchment register import-") == {"import-job"}


def test_commands_and_options_are_completed() -> None:
    assert completed("bash", "catchment mig") == {"migrate"}
    assert completed("bash", "catchment migrate --no") == {"--no-roles"}


def test_bash_completes_with_the_script_that_it_is_given() -> None:
    script = (
        'eval "$(catchment --show-completion)"\n'
        "COMP_WORDS=(catchment register sta) COMP_CWORD=2\n"
        "_catchment_completion catchment\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    path = os.pathsep.join([str(PROGRAM.parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "SHELL": "/bin/bash"}
    done = subprocess.run(["bash", "--norc"], input=script, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("status\n", "")


def test_completing_a_command_imports_no_library() -> None:
    modules = imported(
        "import os\n"
        "os.environ |= {'_CATCHMENT_COMPLETE': 'complete_bash', 'COMP_WORDS': 'catchment ta', 'COMP_CWORD': '1'}\n"
        "sys.argv = ['catchment']\n"
        "from catchment.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
    )
    # typer reads options with pydantic.
    assert modules & (LIBRARIES - {"pydantic"}) == set()
    assert not [name for name in modules if name.startswith("catchment.cli.ta")]
