"""The reference pages name what there is: every routine, column, error code and setting."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from psycopg import Connection
from pydantic.fields import FieldInfo

import catchment
import catchment.lake
from catchment.model.settings import Settings
from catchment.runtime.ray.settings import RaySettings
from catchment.runtime.settings import WorkerSettings
from catchment.sql import ENGINE

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "catchment"
ROLES = ["catchment_enqueue", "catchment_worker", "catchment_read"]

ROUTINES = """
select p.prokind, p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)
  from pg_proc as p
 where p.pronamespace = 'worker'::regnamespace
   and exists (select from unnest(%s::text[]) as r (role) where has_function_privilege(r.role, p.oid, 'execute'))
"""
COLUMNS = """
select a.attname
  from pg_attribute as a
 where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped
"""


def page(name: str) -> str:
    return (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")


def signature(kind: str, name: str, arguments: str, result: str | None) -> str:
    """As the reference writes it: short types, and defaults without a cast."""
    text = re.sub(r"\bIN (?=p_)", "", arguments).replace("timestamp with time zone", "timestamptz")
    text = re.sub(r" DEFAULT ('[^']*'|\w+)(::[\w\[\]]+)?", lambda m: f" = {m[1].replace('NULL', 'null')}", text)
    if kind == "p":
        return f"CALL worker.{name}({text})"
    return f"worker.{name}({text}) → {(result or '').replace('timestamp with time zone', 'timestamptz')}"


def test_the_reference_has_the_signature_of_every_granted_routine(tx: Connection[Any]) -> None:
    lines = set(page("sql.md").splitlines())
    expected = {signature(*row) for row in tx.execute(ROUTINES, [ROLES])}
    assert sorted(expected - lines) == []


def test_the_reference_has_no_routine_that_is_gone(tx: Connection[Any]) -> None:
    written = set(re.findall(r"^(?:CALL )?worker\.\w+\(.*", page("sql.md"), re.MULTILINE))
    assert sorted(written - {signature(*row) for row in tx.execute(ROUTINES, [ROLES])}) == []


@pytest.mark.parametrize("relation", ["tasks", "queues", "lanes", "queue_registry", "command_registry", "schedule"])
def test_the_reference_names_every_column(relation: str, tx: Connection[Any]) -> None:
    section = re.split(rf"^### worker\.{relation}$", page("sql.md"), flags=re.MULTILINE)[1]
    section = re.split(r"^##+ ", section, flags=re.MULTILINE)[0]
    missing = [name for (name,) in tx.execute(COLUMNS, [f"worker.{relation}"]) if f"`{name}`" not in section]
    assert missing == []


def test_every_error_with_a_code_is_public() -> None:
    named = {kind.__name__ for code, kind in ENGINE.errors.items() if code.startswith("CM")}
    assert sorted(named - {*catchment.__all__, *catchment.lake.__all__}) == []


def test_every_session_setting_is_listed() -> None:
    used = {
        name
        for path in (SOURCE / "sql").rglob("*.sql")
        for name in re.findall(r"(?:current_setting|set_config)\(\s*'(worker\.\w+)'", path.read_text("utf-8"))
    }
    listed = page("settings.md")
    # A name that ends in an underscore is the beginning of many.
    assert [n for n in sorted(used) if f"`{n}{'…' if n.endswith('_') else ''}`" not in listed] == []


def test_every_environment_variable_is_listed() -> None:
    named = {n for path in SOURCE.rglob("*.py") for n in re.findall(r'"(CATCHMENT_[A-Z_]+)"', path.read_text("utf-8"))}
    assert [name for name in sorted(named) if f"`{name}`" not in page("settings.md")] == []


def test_every_setting_of_a_worker_is_listed_with_its_default_and_no_other() -> None:
    table = page("settings.md").split("## Worker\n")[1].split("## ")[0]
    listed = dict(re.findall(r"^\| `([A-Z_]+)` \| (.*?) \|", table, re.MULTILINE))
    assert listed == {WorkerSettings.names(n)[0]: _default(n, f) for n, f in WorkerSettings.model_fields.items()}


def test_every_setting_of_ray_is_listed_with_its_default_and_no_other() -> None:
    table = page("settings.md").split("## Ray")[1].split("## ")[0]
    listed = dict(re.findall(r"^\| `([A-Z_]+)` \| (.*?) \|", table, re.MULTILINE))
    assert listed == {RaySettings.names(n)[0]: _default(n, f) for n, f in RaySettings.model_fields.items()}


def _default(name: str, field: FieldInfo) -> str:
    """As the page writes it."""
    if name == "worker_processes":
        return "all cores"
    return {None: "none", True: "true"}.get(field.default, str(field.default))


@pytest.mark.parametrize(("title", "kind"), [("Worker", WorkerSettings), ("Ray", RaySettings)])
def test_every_setting_of_a_worker_is_listed_with_its_limits(title: str, kind: type[Settings]) -> None:
    table = page("settings.md").split(f"## {title}\n")[1].split("## ")[0]
    listed = dict(re.findall(r"^\| `([A-Z_]+)` \| .*? \| (.*?) \|", table, re.MULTILINE))
    assert listed == {kind.names(n)[0]: _values(f) for n, f in kind.model_fields.items()}


def _values(field: FieldInfo) -> str:
    """As the page writes them."""
    if field.annotation is bool:
        return "true, false"
    if get_origin(field.annotation) is Literal:
        return ", ".join(get_args(field.annotation))
    bounds = {name: getattr(m, name) for m in field.metadata for name in ("ge", "gt", "le") if hasattr(m, name)}
    if not bounds:
        return "text"
    if "gt" in bounds:
        return f"more than {bounds['gt']:,}, at most {bounds['le']:,}"
    return f"{bounds['ge']:,} to {bounds['le']:,}"


def _anchors(page: Path) -> set[str]:
    """What a link to a section of a page may name, as GitHub makes it from the titles."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    broken: list[str] = []
    for source in pages:
        for target, section in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", source.read_text("utf-8")):
            page = source.parent / target if target else source
            if not page.exists() or (section and section not in _anchors(page)):
                broken.append(f"{source.relative_to(ROOT)}: {target}#{section}")
    assert broken == []


def test_every_test_that_shows_a_guarantee_exists() -> None:
    named = re.findall(
        r"`(tests/[\w/]+\.py)::(test_\w+)`", (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    )
    assert len(named) > 30
    assert [
        (file, test) for file, test in named if f"def {test}(" not in (ROOT / file).read_text(encoding="utf-8")
    ] == []
