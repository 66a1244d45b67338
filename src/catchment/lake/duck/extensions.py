"""DuckDB instances with the extensions of the lake, loaded from the installed wheels.

Nothing is fetched or written: the extensions are files of the Python environment. Loading them takes about half a
second, so an instance that is given back is kept for the next user in this process.
"""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from catchment.errors import LakeUnavailable
from catchment.lake.duck.duck_errors import raising
from catchment.lake.duck.spill import SpillFolder, make_folder
from catchment.lake.names import literal

VERSION = "1.5.5"
"""The one build that all of this was tried with; an extension loads into no other."""

EXTENSIONS = ("ducklake", "postgres_scanner")
REMOTE_EXTENSION = "httpfs"

_INSTALL = "Run: pip install 'catchment[lake]'"

_spare: list[DuckDBPyConnection] = []
_spare_lock = threading.Lock()


def extension_file(name: str) -> Path:
    """The file of an extension; raises ``LakeUnavailable`` when its wheel is missing or of another version."""
    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    if spec is None or not spec.submodule_search_locations:
        raise LakeUnavailable(f"the DuckDB extension {name} is not installed", code="NO_EXTENSION", hint=_INSTALL)
    folder = Path(spec.submodule_search_locations[0]) / "extensions"
    file = folder / f"v{VERSION}" / f"{name}.duckdb_extension"
    if not file.exists():
        versions = ", ".join(sorted(entry.name for entry in folder.iterdir())) if folder.is_dir() else "none"
        raise LakeUnavailable(
            f"the DuckDB extension {name} is there for {versions}, and v{VERSION} is needed",
            code="NO_EXTENSION",
            hint=_INSTALL,
        )
    return file


def take_instance(temp_directory: str | None = None) -> DuckDBPyConnection:
    """A DuckDB in memory that can attach lakes; raises ``LakeUnavailable``.

    What does not fit into memory is spilled to a separate folder, within the given one or the system's temporary
    folder.
    """
    with _spare_lock:
        if _spare:
            return _spare.pop()
    return new_instance(temp_directory)[0]


def new_instance(temp_directory: str | None = None) -> tuple[DuckDBPyConnection, SpillFolder]:
    """As ``take_instance``, and always a new one, with its folder: for a user who changes what cannot be changed back,
    and closes the instance and removes the folder afterwards."""
    if duckdb.__version__ != VERSION:
        raise LakeUnavailable(
            f"DuckDB is {duckdb.__version__}, and {VERSION} is needed: its extensions load into no other version",
            code="NO_EXTENSION",
            hint=_INSTALL,
        )
    files = [extension_file(name) for name in EXTENSIONS]
    # Else DuckDB would look for extensions on the network, and in the user's folder.
    instance = duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    )
    # In a notebook and for python -c it draws a bar on stdout, which is the program's.
    instance.execute("SET enable_progress_bar = false")
    with raising(lambda error: error):
        for file in files:
            instance.execute(f"LOAD {literal(str(file))}")
    # The day of a time with a zone must not depend on where a worker runs.
    instance.execute("SET GLOBAL TimeZone = 'UTC'")
    folder = make_folder(temp_directory)
    instance.execute(f"SET temp_directory = {literal(folder.path)}")
    return instance, folder


def load_remote(instance: DuckDBPyConnection) -> None:
    """Load what URLs need; a second time does nothing."""
    instance.execute(f"LOAD {literal(str(extension_file(REMOTE_EXTENSION)))}")


def give_back(instance: DuckDBPyConnection) -> None:
    """Keep an instance, which nothing is attached to any more, for the next one who asks."""
    with _spare_lock:
        _spare.append(instance)
