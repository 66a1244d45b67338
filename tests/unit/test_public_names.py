"""What is public is listed, and what is listed exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import psycopg

import catchment
from catchment import errors
from catchment.store.errors import translate


def test_every_public_name_exists_and_is_documented() -> None:
    for name in catchment.__all__:
        value = getattr(catchment, name)
        assert name == "__version__" or value.__doc__, name


def test_every_error_of_the_tree_is_drawn_in_its_docstring() -> None:
    drawn = set(re.findall(r"[A-Z]\w+", errors.__doc__ or ""))
    defined = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, errors.CatchmentError)}
    assert defined <= drawn


def test_every_sqlstate_that_the_engine_raises_has_a_class() -> None:
    functions = Path(errors.__file__).parent / "sql"
    raised = {m for f in functions.rglob("*.sql") for m in re.findall(r"errcode = '(CM\d+)'", f.read_text())}
    for sqlstate in sorted(raised):
        made = type("Made", (psycopg.DatabaseError,), {"sqlstate": sqlstate})("said")
        assert isinstance(translate(made), errors.CatchmentError), sqlstate


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert catchment.__version__ == project["version"]
