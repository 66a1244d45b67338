"""The Python reference is what its script writes, has one section for each public name, and its example runs."""

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path

import pytest

import catchment
import catchment.commands
import catchment.schema
from catchment.task.options import CommandOptions

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")


def section(name: str) -> str:
    return re.split(r"^##+ ", PAGE.split(f"### {name}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def test_the_page_is_what_the_docstrings_say() -> None:
    written = runpy.run_path(str(DOCS / "generate_reference.py"))["render"]()
    assert written == PAGE, "run: python docs/generate_reference.py"


def test_every_public_name_has_a_section_and_the_other_way_round() -> None:
    sections = re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)
    names = {*catchment.__all__, *catchment.schema.__all__} - {"__version__"}
    shared = {name: getattr(catchment.commands, name) for name in catchment.commands.__all__}
    assert sorted(sections) == sorted(names | {name for name, value in shared.items() if inspect.isroutine(value)})
    assert [name for name in shared if f"`{name}`" not in PAGE and name not in sections] == []


@pytest.mark.parametrize("name", ["App", "SyncClient", "Context", "Child", "TaskInfo"])
def test_every_public_member_is_named(name: str) -> None:
    kind = getattr(catchment, name)
    bases = [base for base in kind.__mro__ if base.__module__.startswith("catchment.")]
    members = {m for b in bases for m in [*vars(b), *getattr(b, "__slots__", ())] if not m.startswith("_")}
    # For whoever runs a handler, not for the handler.
    members -= {
        "mark_cancelled",
        "record",
        "refuse_if_over",
        "is_async",
        "is_join",
        "is_over",
        "awaits_join",
        "has_children",
    }
    text = section(name)
    assert [m for m in sorted(members) if not re.search(rf"\b{m}\b", text)] == []


def test_every_option_of_a_command_is_named() -> None:
    text = section("App")
    assert [o for o in CommandOptions.__dataclass_fields__ if f"`{o}`" not in text] == []


def test_links_within_the_page_lead_to_sections() -> None:
    names = {name.lower() for name in re.findall(r"^###? (.+)$", PAGE, re.MULTILINE)}
    assert [target for target in re.findall(r"\]\(#([\w-]+)\)", PAGE) if target not in names] == []


def test_the_example_defines_what_it_says() -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    scope: dict[str, object] = {"__name__": "example"}
    exec(example, scope)  # noqa: S102
    app = scope["app"]
    assert isinstance(app, catchment.App)
    assert app.commands.names == ("send",)
