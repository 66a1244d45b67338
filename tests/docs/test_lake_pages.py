"""The pages about dynamic tables name what there is."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import psycopg
from pydantic.fields import FieldInfo

from catchment.cli.table import app
from catchment.lake import Lake
from catchment.lake.query.ddl import PROPERTIES
from catchment.lake.settings import LakeSettings
from catchment.lake.tables import answers
from catchment.lake.tasks import metrics
from catchment.lake.types import Column, Properties

ROOT = Path(__file__).parents[2]
COMPUTED = {
    "lake_memory_limit": "60 % of memory",
    "lake_threads": "all cores",
    "lake_temp_directory": "the system's temporary folder",
}


def test_every_setting_of_the_lake_is_listed_with_its_default_and_no_other() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    table = re.split(r"^## Dynamic tables$", page, flags=re.MULTILINE)[1].split("\n## ")[0]
    listed = dict(re.findall(r"^\| `([A-Z0-9_]+)` \| (.*?) \|", table, re.MULTILINE))
    assert listed == {LakeSettings.names(n)[0]: _default(n, f) for n, f in LakeSettings.model_fields.items()}


def _default(name: str, field: FieldInfo) -> str:
    """As the page writes it."""
    if name in COMPUTED:
        return COMPUTED[name]
    return (
        {None: "none", True: "true", False: "false"}.get(field.default, "") if _is_word(field) else f"{field.default}"
    )


def _is_word(field: FieldInfo) -> bool:
    return field.default is None or isinstance(field.default, bool)


def _reference() -> str:
    return (ROOT / "docs" / "reference" / "tables.md").read_text(encoding="utf-8")


def test_the_reference_has_every_reason_as_it_is() -> None:
    spec = importlib.util.spec_from_file_location("generate_reasons", ROOT / "docs" / "generate_reasons.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert _reference() == module.placed(_reference()), "run: python docs/generate_reasons.py"


def test_the_reference_has_every_property_and_no_other() -> None:
    table = _reference().split("### Properties")[1].split("\n## ")[0]
    assert re.findall(r"^\| `([A-Z_]+)` \|", table, re.MULTILINE) == list(PROPERTIES)


def test_the_reference_has_every_answer_with_its_fields_and_no_other() -> None:
    table = _reference().split("### Result types")[1].split("\n### ")[0]
    listed = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE))
    kinds = [kind for kind in (*vars(answers).values(), Properties) if is_dataclass(kind) and kind is not Column]
    assert listed == {kind.__name__: ", ".join(f"`{item.name}`" for item in fields(kind)) for kind in kinds}


def test_the_reference_has_every_verb_and_no_other() -> None:
    table = _reference().split("## Command line")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)[^`]*` \|", table, re.MULTILINE)
    assert sorted(listed) == sorted(command.name or "" for command in app.registered_commands if not command.hidden)


def test_the_reference_has_every_method_of_a_lake() -> None:
    methods = {name for name in vars(Lake) if not name.startswith("_")}
    assert [name for name in sorted(methods) if f"{name}(" not in _reference()] == []


def test_the_reference_has_every_column_of_every_view(lake_db: str) -> None:
    page = _reference()
    with psycopg.connect(lake_db) as conn:
        rows = conn.execute(
            "select c.relname, a.attname from pg_class as c join pg_attribute as a on a.attrelid = c.oid"
            " where c.relnamespace = 'lake'::regnamespace and c.relkind = 'v' and c.relname not like 'ducklake%%'"
            " and a.attnum > 0",
            [],
        ).fetchall()
    assert len(rows) > 60
    missing = [
        f"{view}.{column}"
        for view, column in rows
        if f"`{column}`" not in page.split(f"### lake.{view}\n")[-1].split("\n### ")[0].split("\n## ")[0]
    ]
    assert missing == []


def test_the_reference_has_every_command_of_the_lake(lake_db: str) -> None:
    with psycopg.connect(lake_db) as conn:
        found = conn.execute("select command, queue from worker.command_registry where queue like 'lake%'").fetchall()
    listed = re.findall(r"^\| `(lake_\w+)` \| `(\w+)` \|", _reference(), re.MULTILINE)
    assert sorted(listed) == sorted(found)


def test_metrics_of_the_lake_are_listed() -> None:
    page = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    names = {
        f"{metric.name}_total" if metric.type == "counter" else metric.name for metric in metrics.collector().collect()
    }
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []
