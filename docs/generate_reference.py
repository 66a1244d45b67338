"""Writes docs/reference/python.md from the docstrings of the public names: ``python docs/generate_reference.py``."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import catchment
import catchment.commands
import catchment.schema

PAGE = Path(__file__).parent / "reference" / "python.md"

INTRO = """\
The public names of `catchment`. `catchment.schema` and `catchment.commands` are for packages that add a schema or
commands. [Structured concurrency](../concepts/structured-concurrency.md) explains the life of a task, and the [SQL
reference](sql.md) has the functions of the database. This page is generated from the docstrings by
`docs/generate_reference.py`."""

GROUPS = {
    "Apps, commands and tasks": [
        "App",
        "Command",
        "Request",
        "Task",
        "Item",
        "Retry",
        "Limit",
        "TaskId",
        "TaskInfo",
        "TaskState",
        "Why",
        "Condition",
    ],
    "Without asyncio": ["SyncRequest", "SyncTask", "SyncClient"],
    "In a handler": ["Context", "Child", "RetryLater", "GiveUp", "Snoozed"],
    "Logging": ["TaskFilter"],
    "Connect and install": ["connect", "migrate"],
    "catchment.schema": catchment.schema.__all__,
    "catchment.commands": [n for n in catchment.commands.__all__ if inspect.isroutine(getattr(catchment.commands, n))],
    "Errors": [],
}
# Groups that are a module of this name, and begin with what it says.
MODULES = {"catchment.schema": catchment.schema, "catchment.commands": catchment.commands}
ERRORS_INTRO = "Those with a code come from the engine, see [errors](errors.md)."

MORE = {
    "App": "More on `dedup` and `merge` is in [merge pending work](../how-to/merge-pending-work.md), on `lane` in\n"
    "[keep things in order](../how-to/keep-things-in-order.md), on `conn` in [write in one\n"
    "transaction](../how-to/write-in-one-transaction.md).",
    "Retry": "More is in [retry and give up](../how-to/retry-and-give-up.md).",
    "Limit": "More is in [limit work](../how-to/limit-work.md).",
    "Schema": "A whole application is in [ship your own schema](../how-to/ship-your-own-schema.md).",
    "TaskFilter": "More is in [read the logs](../how-to/read-the-logs.md).",
    "Context": "More ways to test a handler are in [test your tasks](../how-to/test-your-tasks.md).",
}

# How a member is written: on the object that users have of this class.
OWNERS = {"App": "app.", "SyncClient": "app.sync.", "Context": "ctx.", "Command": "command.", "Schema": "schema."}
OWNERS |= {"Task": "task.", "SyncRequest": "command.sync.", "SyncTask": "task.", "Why": "why."}
# Their members are those of another class, or nobody's business.
BARE = {"Request", "Item", "TaskFilter"}
DECORATORS = {("App", "command"), ("App", "middleware"), ("Command", "join")}
MADE_BY_USERS = {"App", "Retry", "Limit", "RetryLater", "GiveUp", "Schema", "connect", "migrate"}
MADE_BY_USERS |= {"lazy_app", "print_json", "print_rows"}
# For code that runs a handler, not for handlers.
INTERNAL = {
    ("Context", "mark_cancelled"),
    ("Context", "record"),
    ("Context", "is_over"),
    ("Context", "refuse_if_over"),
    ("Command", "bind"),
    ("Command", "command_name"),
    ("Context", "has_children"),
    ("Command", "wants_context"),
    ("Command", "join_fn"),
    ("Command", "path"),
    ("Limit", "keys"),
    ("TaskState", "is_settled"),
    # For a schema that is installed in other steps.
    ("Schema", "apply_migrations"),
    ("Schema", "misfit"),
    ("Schema", "newer"),
    ("Schema", "newest"),
    ("Schema", "recreate_routines"),
    ("Schema", "version_query"),
}


def render() -> str:
    """The whole page."""
    groups = GROUPS | {"Errors": _errors()}
    grouped = [name for names in groups.values() for name in names]
    missing = set(catchment.__all__) - {"__version__"} - set(grouped)
    if missing:
        raise SystemExit(f"public names without a group: {', '.join(sorted(missing))}. Add them to GROUPS.")
    parts = ["# Python reference", INTRO, _markdown(catchment.__doc__)]
    for title, names in groups.items():
        parts.append(f"## {title}")
        if title == "Errors":
            parts.append(ERRORS_INTRO)
        if title in MODULES:
            parts.append(_markdown(MODULES[title].__doc__, language="text"))
        for name in names:
            parts.extend(_section(name))
    return "\n\n".join(parts) + "\n"


def _errors() -> list[str]:
    """The public errors in the order of their tree."""
    drawn = re.findall(r"[A-Z]\w+", catchment.errors.__doc__ or "")
    return [name for name in drawn if name in set(catchment.__all__) - set(GROUPS["In a handler"])]


def _section(name: str) -> Iterator[str]:
    kind = next(getattr(place, name) for place in (catchment, *MODULES.values()) if name in place.__all__)
    yield f"### {name}"
    if name in MADE_BY_USERS:
        yield f"`{name}{_parameters(kind)}`"
    yield _markdown(kind.__doc__, within=name)
    if isinstance(kind, enum.EnumType):
        yield f"Values: {_names(list(kind))}."
    elif dataclasses.is_dataclass(kind) and name not in MADE_BY_USERS:
        yield f"Fields: {_names([field.name for field in dataclasses.fields(kind)])}."
    if inspect.isclass(kind) and not issubclass(kind, Exception) and name not in BARE:
        yield from _members(name, kind)
    if name in MORE:
        yield MORE[name]


def _members(name: str, kind: type) -> Iterator[str]:
    for member, value in _own(kind).items():
        if member.startswith("_") or (name, member) in INTERNAL:
            continue
        if isinstance(value, property):
            written = f"{OWNERS[name]}{member}"
        elif isinstance(value, classmethod):
            written = f"{name}.{member}{_parameters(value.__func__)}"
        elif inspect.isfunction(value):
            written = _call(name, member, value)
        else:
            continue
        yield f"**`{written}`**"
        yield _markdown(value.__doc__, within=name)


def _own(kind: type) -> dict[str, Any]:
    """The members of a class and of the bases it has in Catchment."""
    bases = [base for base in reversed(kind.__mro__) if base.__module__.startswith("catchment.")]
    return {member: value for base in bases for member, value in vars(base).items()}


def _call(name: str, member: str, fn: Callable[..., Any]) -> str:
    if (name, member) in DECORATORS:
        options = _parameters(fn, drop=1)
        return f"@{OWNERS[name]}{member}{'' if options == '()' else options}"
    before = "await " if inspect.iscoroutinefunction(fn) else ""
    return f"{before}{OWNERS[name]}{member}{_parameters(fn)}"


def _parameters(fn: Callable[..., Any], drop: int = 0) -> str:
    """The parameters without annotations: names and defaults say enough."""
    signature = inspect.signature(fn)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    if bare and bare[0].name in ("self", "cls"):
        bare = bare[1:]
    text = str(inspect.Signature(bare[drop:])).replace("datetime.timedelta", "timedelta").replace("'", '"')
    text = text.replace("<factory>", "{}").replace('<class "catchment.errors.base.SchemaMismatch">', "SchemaMismatch")
    return text.replace(", /", "").replace("(/, ", "(")


def _markdown(doc: str | None, *, within: str = "", language: str = "python") -> str:
    """A docstring as Markdown: code in single backticks, public names as links, what follows ``::`` as a block."""
    text = inspect.cleandoc(doc or "")
    text, _, example = text.partition("::\n\n")
    text = re.sub(r"``([^`]+)``", lambda found: _code(found[1], within), text)
    return f"{text}:\n\n```{language}\n{inspect.cleandoc(example)}\n```" if example else text


def _code(text: str, within: str) -> str:
    is_name = text != within and any(text in names for names in (catchment.__all__, *GROUPS.values()))
    return f"[{text}](#{text.lower()})" if is_name else f"`{text}`"


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
