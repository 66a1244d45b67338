"""The pages on Python workers: every block runs as it stands there, with real workers, and does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from catchment.runtime.settings import WorkerSettings
from tests.docs.live import LivePage, live_page
from tests.docs.steps import LIVE_PAGES, ROOT, Block, read_blocks
from tests.fixtures.often import often
from tests.fixtures.worker import wait_until

__all__ = ["live_page"]

RUN = {"python", "sql", "sh", "text"}
# One page of each kind for every run; the others have the same commands.
EVERY_RUN = ("tutorial", "enqueue-in-your-transaction", "install", "retry-and-give-up")
RUN_PAGES = often(
    *(page for page in LIVE_PAGES if page.stem in EVERY_RUN),
    now_and_then=[page for page in LIVE_PAGES if page.stem not in EVERY_RUN],
)
SETTINGS = {WorkerSettings.names(name)[0] for name in WorkerSettings.model_fields} | {"CATCHMENT_DSN", "CATCHMENT_DATA"}


@pytest.mark.parametrize("page", RUN_PAGES, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, live_page: LivePage) -> None:
    if page.stem == "ship-your-own-schema":
        live_page.shell.start_as_installed()
    for block in read_blocks(page.read_text(encoding="utf-8")):
        try:
            live_page.run(block)
        except Exception as problem:
            where = f"{page.relative_to(ROOT)}:{block.line}"
            pytest.fail(f"{where}\n{block.text}\n\n{type(problem).__name__}: {problem}", pytrace=False)


def test_a_page_that_says_something_else_is_caught(live_page: LivePage) -> None:
    live_page.run(Block("sh", 1, "echo one"))
    with pytest.raises(AssertionError):
        live_page.run(Block("text", 1, "two"))
    with pytest.raises(AssertionError):
        live_page.run(Block("python", 1, "print(1)\n# prints: 2"))
    with pytest.raises(AssertionError):
        live_page.run(Block("sh", 1, "false"))


def test_a_forked_command_is_a_program_of_the_shell(live_page: LivePage, tmp_path: Path, db: str) -> None:
    """It has the shell's folder, variables, pipes and jobs, and a signal for the job reaches it."""
    shell, log = live_page.shell, tmp_path / "worker.log"
    text = "import os\nfrom catchment import App\napp = App(os.environ['CATCHMENT_DSN'])\n"
    (tmp_path / "here.py").write_text(f"{text}@app.command\nasync def rest(): ...\n")
    assert shell.run("catchment queue list --json | grep -c maintenance") == "1\n"
    assert shell.run("CATCHMENT_DSN=host=/nowhere catchment doctor 2> said; echo $?; grep -c nowhere said") == "3\n1\n"
    for signal, code in (("TERM", 0), ("KILL", 137)):
        log.write_text("")
        shell.run(f"catchment worker --app here:app 2>> {log} &")
        wait_until(lambda: "serves" in log.read_text())
        assert shell.run(f"kill -{signal} %%; wait %%; echo $?").endswith(f"{code}\n"), log.read_text()
    sessions = "select count(*) from pg_stat_activity where application_name = 'catchment worker'"
    with psycopg.connect(db, autocommit=True) as conn:
        wait_until(lambda: conn.execute(sessions).fetchall() == [(0,)])


@pytest.mark.parametrize("page", LIVE_PAGES, ids=lambda page: page.stem)
def test_what_is_not_run_names_only_settings_that_exist(page: Path) -> None:
    """Files for systemd and the like."""
    for block in read_blocks(page.read_text(encoding="utf-8")):
        if block.language not in RUN:
            named = set(re.findall(r"\b([A-Z]+(?:_[A-Z]+)+)[=:]", block.text))
            assert named <= SETTINGS, f"{page.name}:{block.line}"


@pytest.mark.long  # all of the README is read in tests/package
def test_the_python_example_of_the_readme_runs(live_page: LivePage) -> None:
    live_page.shell.start_as_installed()
    blocks = list(read_blocks((ROOT / "README.md").read_text(encoding="utf-8")))
    first = next(i for i, block in enumerate(blocks) if block.language == "python")
    for block in blocks[first : first + 3]:
        live_page.run(block)
    assert [block.language for block in blocks[first : first + 3]] == ["python", "sh", "text"]
