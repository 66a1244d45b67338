"""What is public is listed, and what is listed exists."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import psycopg
import pytest

import catchment
import catchment.commands
import catchment.lake
import catchment.schema
import catchment.testing
import catchment_register
from catchment import errors
from catchment.store.errors import translate

PACKAGES = (catchment, catchment.commands, catchment.lake, catchment_register)


def test_every_public_name_exists_and_is_documented() -> None:
    for name in catchment.__all__:
        value = getattr(catchment, name)
        assert name == "__version__" or value.__doc__, name


def test_names_that_are_imported_late_are_seen_by_dir_and_by_a_star_import() -> None:
    script = "import catchment; seen = dir(catchment); from catchment import *; print(*{*seen} & {*dir()})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {*catchment.__all__} <= {*done.stdout.split()}


def test_a_type_checker_finds_each_late_name_where_it_is() -> None:
    for package in PACKAGES:
        tree = ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8"))
        (block,) = (n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
        for found in block.body:
            assert isinstance(found, ast.ImportFrom)
            for name in found.names:
                value = getattr(package, name.name)
                assert value is getattr(importlib.import_module(found.module or ""), name.name), name.name
                assert name.name in package.__all__


def _callables() -> Iterator[tuple[str, Any]]:
    """All public functions and classes, and the methods and properties of these."""
    for package in (*PACKAGES, catchment.schema, catchment.testing):
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isfunction(value):
                yield f"{package.__name__}.{name}", value
            elif isinstance(value, type):
                yield f"{package.__name__}.{name}", value
                for base in value.__mro__:
                    if base.__module__.partition(".")[0] in ("catchment", "catchment_register"):
                        for member, inner in vars(base).items():
                            found = getattr(inner, "fget", None) or getattr(inner, "__func__", None) or inner
                            if inspect.isfunction(found):
                                yield f"{package.__name__}.{name}.{member}", found


def test_the_type_hints_of_everything_public_can_be_resolved() -> None:
    wrong: list[str] = []
    for name, value in _callables():
        try:
            get_type_hints(value)
        except Exception as error:
            wrong.append(f"{name}: {error}")
    assert wrong == []


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    missing = "none"
    for package in PACKAGES:
        with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute '{missing}'"):
            getattr(package, missing)


def test_every_error_of_the_tree_is_drawn_in_its_docstring() -> None:
    drawn = set(re.findall(r"[A-Z]\w+", errors.__doc__ or ""))
    defined = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, errors.CatchmentError)}
    assert defined <= drawn


def test_every_sqlstate_that_the_engine_raises_has_a_class() -> None:
    functions = Path(catchment.__file__).parent / "sql"
    raised = {m for f in functions.rglob("*.sql") for m in re.findall(r"errcode = '(CM\d+)'", f.read_text())}
    for sqlstate in sorted(raised - {"CM041"}):  # how a SQL handler snoozes, caught by the engine
        made = type("Made", (psycopg.DatabaseError,), {"sqlstate": sqlstate})("said")
        assert isinstance(translate(made), errors.CatchmentError), sqlstate


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert catchment.__version__ == project["version"]
