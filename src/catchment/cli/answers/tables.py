"""Answers about dynamic tables: those of ``Lake`` as ``--json`` writes them, and what commands say besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import timedelta
from functools import cache, reduce
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from pydantic import create_model

from catchment.cli.answers.base import Answer
from catchment.lake.load.load import LoadInfo
from catchment.lake.refresh.audit import AuditResult
from catchment.lake.tables import answers as lake
from catchment.lake.tables.lifecycle import TableInfo
from catchment.lake.tables.rounds import RefreshInfo
from catchment.lake.types import Properties


class LakeMade(Answer):
    """``data_path`` is where the data is stored."""

    data_path: str


class RoundAsked(Answer):
    """With ``--no-wait``: the round of refreshes that workers will run."""

    round_id: int


class RefreshCancelled(Answer):
    """``cancelled`` counts the refreshes that were cancelled."""

    name: str
    cancelled: int


class TableState(Answer):
    """A table that was suspended or resumed."""

    name: str
    state: Literal["ACTIVE", "SUSPENDED"]


class TableDropped(Answer):
    """A table that was dropped."""

    name: str


class AttachStatement(Answer):
    """The statement that attaches the lake to DuckDB."""

    statement: str


def _kinds(answer: type) -> dict[str, Any]:
    """The fields of a dataclass of the lake as ``as_json`` writes it, each with its type."""
    hints = get_type_hints(answer)
    kinds: dict[str, Any] = {}
    for item in fields(cast("Any", answer)):
        kind = hints[item.name]
        if kind is timedelta:
            kinds[f"{item.name}_seconds"] = float
        elif timedelta in get_args(kind):
            kinds[f"{item.name}_seconds"] = float | None
        else:
            kinds[item.name] = _written(kind)
    return kinds


def _written(kind: Any) -> Any:
    """A type with the models of the dataclasses in it."""
    if is_dataclass(kind):
        return _model(cast("type", kind))
    origin, parts = get_origin(kind), get_args(kind)
    if not parts or origin is Literal:
        return kind
    parts = tuple(_written(part) for part in parts)
    return reduce(lambda one, two: one | two, parts) if origin in (Union, UnionType) else origin[parts]


@cache
def _model(answer: type) -> type[Answer]:
    return _make(answer.__name__, answer.__doc__ or "", _kinds(answer))


def _make(name: str, doc: str, kinds: Mapping[str, Any]) -> type[Answer]:
    given: dict[str, Any] = {field: (kind, ...) for field, kind in kinds.items()}
    return create_model(name, __base__=Answer, __doc__=doc, **given)


TableMade = _model(TableInfo)
Refreshed = _model(RefreshInfo)
Loaded = _model(LoadInfo)
TableSummary = _model(lake.TableSummary)
TableDescription = _model(lake.TableDescription)
TableExplanation = _model(lake.TableExplanation)
TableWhy = _model(lake.TableWhy)
RefreshRecord = _model(lake.RefreshRecord)
TableLag = _model(lake.TableLag)
TableNode = _model(lake.TableNode)
TableAltered = _make("TableAltered", "A table with all its properties.", {"name": str, **_kinds(Properties)})
TableAudited = _make(
    "TableAudited",
    "``missing`` counts rows of the query that the table lacks, ``extra`` rows of the table that the query does not"
    " return; ``examples`` has some of both. ``snapshot`` is that of the table's data.",
    {"name": str, **_kinds(AuditResult), "is_equal": bool},
)
_Compacted = _make("TableCompacted", lake.Compaction.__doc__ or "", {"name": str, **_kinds(lake.Compaction)})
TablesMaintained = _make(
    "TablesMaintained",
    "``removed_files`` counts files of no table. ``expired_snapshots`` is null without ``--expire-days``.",
    {"tables": list[_Compacted], "removed_files": int, "expired_snapshots": int | None},
)
StatementExplained = _make(
    "StatementExplained",
    "With ``--file``: each statement, explained or refused. A refused one has an ``error``, and null for what is"
    " not known.",
    {
        "statement": int,
        "line": int,
        **{field: kind | NoneType for field, kind in _kinds(lake.TableExplanation).items()},
        "error_code": str | None,
        "error": str | None,
        "hint": str | None,
    },
)
