"""Which column of a file is which of ours. Pure: decided from the header alone, before a job exists."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping as Dict
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, cast

from catchment_register.errors import MappingRefused
from catchment_register.upload.columns import KINDS, Layout

_READY = resources.files("catchment_register.upload") / "mappings"
_SECTIONS = {"kind", "columns", "values", "split"}


@dataclass(frozen=True, slots=True)
class Mapping:
    """Columns of ours, each with where it comes from.

    ``columns``: a column of the file; ``values``: the same for all rows; ``split``: the first line of an address, with
    what separates it from the next ones within the cell.
    """

    name: str
    columns: Dict[str, str] = field(default_factory=dict[str, str])
    values: Dict[str, str] = field(default_factory=dict[str, str])
    split: Dict[str, str] = field(default_factory=dict[str, str])
    kind: str | None = None

    def snapshot(self) -> dict[str, dict[str, str]]:
        """As a job keeps it."""
        return {k: {"input": v} for k, v in self.columns.items()} | {k: {"value": v} for k, v in self.values.items()}


@dataclass(frozen=True, slots=True)
class Choice:
    """The mapping for a file, and columns of the file that nobody reads."""

    mapping: Mapping
    ignored: tuple[str, ...]

    @property
    def has_dates(self) -> bool:
        """Whether the rows say themselves what they are valid for."""
        return "valid_from" in self.mapping.columns


def parse_mapping(text: str, name: str) -> Mapping:
    """A mapping from TOML, or ``MappingRefused`` if it is not one."""
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MappingRefused(f"the mapping {name} is not TOML: {error}") from None
    unknown = sorted(set(read) - _SECTIONS)
    if unknown:
        raise MappingRefused(
            f"the mapping {name} has {', '.join(unknown)}", hint="It may have kind, [columns], [values] and [split]."
        )
    kind = read.get("kind")
    if kind is not None and kind not in KINDS:
        raise MappingRefused(f"the mapping {name} is for the kind {kind!r}", hint=f"Choose one of {', '.join(KINDS)}.")
    return Mapping(name, *(_texts(read.get(s, {}), s, name) for s in ("columns", "values", "split")), kind=kind)


def _texts(section: Any, title: str, name: str) -> dict[str, str]:
    if not isinstance(section, dict):
        raise MappingRefused(f"[{title}] of the mapping {name} is not a table")
    pairs = cast("dict[str, Any]", section)
    wrong = [k for k, v in pairs.items() if not isinstance(v, str)]
    if wrong:
        raise MappingRefused(f"{wrong[0]} in [{title}] of the mapping {name} is not a text", hint="Put it in quotes.")
    return dict(pairs)


def ready_made() -> list[Mapping]:
    """The mappings that ship with the package."""
    files = sorted((f for f in _READY.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return [parse_mapping(f.read_text(encoding="utf-8"), f.name.removesuffix(".toml")) for f in files]


def find_mapping(given: str) -> Mapping:
    """A ready-made mapping by name, or one from a file."""
    known = {m.name: m for m in ready_made()}
    if given in known:
        return known[given]
    try:
        return parse_mapping(Path(given).read_text(encoding="utf-8"), given)
    except OSError as error:
        raise MappingRefused(
            f"the mapping {given} cannot be read: {error.strerror}",
            hint=f"Give a file, or one of {', '.join(sorted(known))}.",
        ) from None


def choose_mapping(
    headers: Sequence[str], layout: Layout, *, given: Mapping | None = None, strategy: str | None = None
) -> Choice:
    """The given mapping; else our own columns, if the file has what it needs; else the first ready-made one that fits.

    Raises ``MappingRefused`` when a column is missing, before anything is done.
    """
    _refuse_repeated(headers)
    if given is not None:
        return _checked(given, headers, layout, strategy)
    own = Mapping("own columns", {h: h for h in headers if h in layout.columns})
    lacking = layout.missing(own.columns, strategy)
    if not lacking:
        return _checked(own, headers, layout, strategy)
    for mapping in ready_made():
        if mapping.kind == layout.kind.name and set(mapping.columns.values()) <= set(headers):
            return _checked(mapping, headers, layout, strategy)
    raise MappingRefused(
        f"the file lacks {', '.join(lacking)}; it has {', '.join(headers)}",
        hint="Name the columns as ours, or say which is which with --mapping FILE.",
    )


def _refuse_repeated(headers: Sequence[str]) -> None:
    repeated = sorted({h for h in headers if headers.count(h) > 1 and h})
    if repeated:
        raise MappingRefused(f"the file has several columns {', '.join(repeated)}")
    if not any(headers):
        raise MappingRefused("the file has no header", hint="Its first row must name the columns.")


def _checked(mapping: Mapping, headers: Sequence[str], layout: Layout, strategy: str | None) -> Choice:
    ours = {**mapping.columns, **mapping.values, **mapping.split}
    strange = sorted(set(ours) - layout.columns)
    if strange:
        raise MappingRefused(
            f"a file of kind {layout.kind.name} has no column {', '.join(strange)}",
            hint=f"It may have {', '.join(sorted(layout.columns))}.",
        )
    absent = sorted({i for i in mapping.columns.values() if i not in headers})
    if absent:
        raise MappingRefused(
            f"the mapping {mapping.name} reads {', '.join(absent)}, which the file does not have",
            hint=f"The file has {', '.join(headers)}.",
        )
    lacking = layout.missing({*mapping.columns, *mapping.values}, strategy)
    if lacking:
        raise MappingRefused(f"the mapping {mapping.name} lacks {', '.join(lacking)}")
    read = set(mapping.columns.values())
    return Choice(mapping, tuple(h for h in headers if h and h not in read))
