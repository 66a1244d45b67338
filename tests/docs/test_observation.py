"""The pages on metrics and events name what a worker shows, and nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from catchment.lake.tasks.metrics import collector, gauges
from catchment.runtime.metrics import Metrics
from catchment.runtime.metrics_server import WorkerCollector
from catchment.store.depth import QueueDepth

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "src" / "catchment" / "runtime"


def rows(page: str) -> Iterator[list[str]]:
    """The cells of the table rows of a reference page that begin with a name."""
    text = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    for line in re.findall(r"^\| (`.*) \|$", text, re.MULTILINE):
        yield [cell.strip() for cell in line.split(" |")]


def emitted() -> dict[str, set[str]]:
    """The events in the code, each with all fields that it may have."""
    found: dict[str, set[str]] = {}
    for path in sorted(RUNTIME.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "emit":
                name = node.args[0]
                assert isinstance(name, ast.Constant), f"{path.name}:{node.lineno}: an event needs a name that is fixed"
                fields = {keyword.arg or "**" for keyword in node.keywords} - {"level"}
                found.setdefault(str(name.value), set()).update(fields)
    return found


def test_every_event_is_listed_with_its_fields_and_no_other() -> None:
    listed = {cells[0].strip("`"): set(re.findall(r"`(\w+)`", cells[2])) for cells in rows("events.md")}
    assert listed == emitted()


@pytest.mark.parametrize("page", ["events.md", "metrics.md"])
def test_no_event_and_no_metric_is_listed_twice(page: str) -> None:
    names = [cells[0] for cells in rows(page)]
    assert sorted(names) == sorted(set(names))


def test_every_metric_is_listed_with_its_type_and_no_other() -> None:
    depth = QueueDepth("mail", 0, 0, 0, 0, 0.0, False, 0)
    of_worker = WorkerCollector(Metrics(), lambda: None, lambda: [depth]).collect()
    shown = {
        f"{family.name}_total" if family.type == "counter" else family.name: family.type
        for family in (*of_worker, *collector().collect(), *gauges([]))
    }
    assert {cells[0].strip("`"): cells[1] for cells in rows("metrics.md")} == shown
