"""Where a lake is: its catalog is in the engine's database, its data are in a folder or a bucket.

Written as a data path (``/data/lake``, ``s3://bucket/lake``), or in parts:
``catalog=<dsn>;data=<path>;schema=<schema>``. A database that has a lake knows where its data are, so later no address
is needed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from catchment.errors import RequestRefused
from catchment.store import embedded

LAKE_VARIABLE = "CATCHMENT_LAKE"
METADATA_SCHEMA = "public"
"""DuckLake's own default, so that other clients need no option."""

_PARTS = ("catalog", "data", "schema")
_FORM = "Write a path (/data/lake, s3://bucket/lake), or catalog=<dsn>;data=<path>;schema=<schema>."


@dataclass(frozen=True, slots=True)
class LakeAddress:
    """``data_path`` ends with a slash and is absolute. ``catalog`` None: the database that is used anyway."""

    data_path: str
    metadata_schema: str = METADATA_SCHEMA
    catalog: str | None = None


def parse(text: str) -> LakeAddress:
    """Read an address; raises ``RequestRefused``."""
    if not text.strip() or "\0" in text:
        raise RequestRefused(f"the lake {text!r} is no address", hint=_FORM)
    parts = _split(text.strip())
    if "data" not in parts:
        raise RequestRefused(f"the lake {_without_secrets(parts)} has no data path", hint=_FORM)
    return LakeAddress(
        data_path=_absolute(parts["data"]),
        metadata_schema=parts.get("schema", METADATA_SCHEMA),
        catalog=parts.get("catalog"),
    )


def _split(text: str) -> dict[str, str]:
    """The parts by name. A text that does not begin with the name of a part is a data path, whatever it holds."""
    if not text.startswith(tuple(f"{name}=" for name in _PARTS)):
        return {"data": text}
    parts: dict[str, str] = {}
    for part in text.split(";"):
        name, separator, value = part.strip().partition("=")
        if not separator or name not in _PARTS or not value or name in parts:
            raise RequestRefused(
                f"a lake has no part {name!r}, or has it twice, or it is empty: there are {', '.join(_PARTS)}",
                hint=_FORM,
            )
        parts[name] = value
    return parts


def _without_secrets(parts: dict[str, str]) -> str:
    # A catalog's DSN may hold a password.
    return ";".join(f"{name}=…" if name == "catalog" else f"{name}={value}" for name, value in parts.items())


def is_remote(path: str) -> bool:
    """Is it a URL, such as that of a bucket, and no path of this machine?"""
    return "://" in path


def _absolute(path: str) -> str:
    if is_remote(path):
        return path.rstrip("/") + "/"
    return str(Path(path).expanduser().absolute()).rstrip("/") + "/"


def default_address() -> LakeAddress:
    """The lake of the embedded server: a folder beside the server's."""
    folder = embedded.default_folder().expanduser().absolute()
    return LakeAddress(data_path=f"{folder}-lake/")


def find_address(text: str | None) -> LakeAddress | None:
    """The address given, or ``$CATCHMENT_LAKE``, or None."""
    chosen = text or os.environ.get(LAKE_VARIABLE)
    return parse(chosen) if chosen else None
