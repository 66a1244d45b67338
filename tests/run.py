"""Runs the suite on the embedded PostgreSQL 18 and, beside it, what depends on the server on Debian's 15 if it is here.

python tests/run.py [--long] [pytest arguments]

With ``--long`` the long tests run on 18 and beside them the whole ordinary suite on 15, and pyright looks at the tests
too. Much of the suite waits for other processes, so the second server, and pyright, take little time of their own.
Their output comes when the first run has ended, and what failed comes once more at the very end, where whoever sees
only the end of a log finds it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Two more than cores, because many tests wait.
PROCESSES = (os.cpu_count() or 1) + 2
DEBIAN_15 = Path("/usr/lib/postgresql/15/bin/postgres")
# Of the message of each failed test, at the end.
LAST_LINES = 40
# What depends on the version of the server: every kind of SQL once. The rest runs on 15 beside the long tests.
SQL = (
    *("analyze_tables", "bodies", "cancel", "forged_settings", "handlers_by_signature", "hooks", "join", "lanes"),
    *("late_children", "limits", "on_conflict", "process_tasks", "profiles", "read_only", "roles", "scopes"),
    *("settings_of_handlers", "surface", "upkeep"),
)
OTHERS = (
    "tests/cli/test_task_show.py::test_times_that_were_written_by_hand_stop_no_reader",
    "tests/engine/test_commits.py",
    "tests/engine/test_transcripts.py",
    "tests/lake/control/test_guard.py::test_a_commit_moves_the_frontier_to_what_was_read",
    "tests/lake/control/test_guard.py::test_an_attempt_with_an_old_fence_is_refused_and_nothing_of_it_remains",
    "tests/migrations/test_migrate.py",
    "tests/migrations/test_plain_owner.py::test_an_owner_without_roles_installs_runs_and_gets_roles_later",
    "tests/register/capture/test_capture.py",
    "tests/register/edit/test_edit.py",
    "tests/register/round/test_oracle.py::test_a_generated_register_is_what_the_reference_says",
    "tests/register/schema/test_postgres_facts.py",
    "tests/register/schema/test_roles.py",
    "tests/register/schema/test_schema.py",
    "tests/register/temporal/test_row_rules.py",
)
VERSIONED = [*(f"tests/sql/test_{name}.py" for name in SQL), *OTHERS]


def _pytest(processes: int, marks: str, *arguments: str) -> list[str]:
    # Whoever has nothing left takes from the other, so that none is idle in the end.
    spread = ["-n", str(processes), "--dist", "worksteal"]
    return [sys.executable, "-m", "pytest", "-q", *spread, "-m", marks, *arguments]


class Beside:
    """A command that runs while another does; what it prints is shown at its end."""

    def __init__(self, title: str, command: list[str], **environment: str) -> None:
        self._title = title
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the command
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | environment, stdout=self._said, stderr=subprocess.STDOUT
        )

    def end(self) -> bool:
        """Wait for it and show what it printed; whether it ended well."""
        code = self._process.wait()
        self._said.seek(0)
        print(f"\n{self._title}:\n{self._said.read()}", flush=True)
        self._said.close()
        return code == 0

    def stop(self) -> None:
        """End it, unless it has ended."""
        self._process.terminate()
        self._process.wait()
        self._said.close()


def main() -> int:
    arguments = sys.argv[1:]
    is_long = "--long" in arguments
    marks = "long" if is_long else "not long"
    arguments = [a for a in arguments if a != "--long"]
    if arguments:
        return subprocess.call(_pytest(PROCESSES, marks, *arguments), cwd=ROOT)
    with tempfile.TemporaryDirectory() as reports:
        ended_well = _run_all(Path(reports), marks, is_long=is_long)
        for report in sorted(Path(reports).glob("*.xml")):
            for line in _failures(report):
                print(line)
    return 0 if ended_well else 1


def _run_all(reports: Path, marks: str, *, is_long: bool) -> bool:
    """Run everything, with a report of each run of pytest in ``reports``; whether all of it ended well."""
    beside: list[Beside] = []
    # The types of tests and benchmarks take longer to check than those of the package: beside the long tests.
    checked = [] if is_long else ["src"]
    beside.append(Beside("pyright", [str(Path(sys.executable).parent / "pyright"), *checked]))
    if DEBIAN_15.exists():
        again = _pytest(1, "not long", f"--junit-xml={reports / '15.xml'}", *([] if is_long else VERSIONED))
        beside.append(Beside("Once more on PostgreSQL 15", again, CATCHMENT_TEST_PG="15"))
    try:
        ended = [subprocess.call(_pytest(PROCESSES, marks, f"--junit-xml={reports / '18.xml'}"), cwd=ROOT) == 0]
    except BaseException:
        for each in beside:
            each.stop()
        raise
    ended += [each.end() for each in beside]
    return all(ended)


def _failures(report: Path) -> list[str]:
    """Each test that failed in a report, with the last lines of its message."""
    lines: list[str] = []
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - a file of our own
        for failure in [*case.findall("failure"), *case.findall("error")]:
            lines.append(f"\nFailed on PostgreSQL {report.stem}: {case.get('classname')}::{case.get('name')}")
            lines += (failure.text or "").splitlines()[-LAST_LINES:]
    return lines


if __name__ == "__main__":
    sys.exit(main())
