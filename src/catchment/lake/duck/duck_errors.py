"""What DuckDB and DuckLake raise, as errors of Catchment. They tell little but a kind and a text, so these decide.

Errors that are about a query (a missing column, a wrong cast) are left as they are, whatever words are in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from catchment.errors import (
    CommitConflict,
    LakeDiskFull,
    LakeError,
    LakeInterrupted,
    LakeOutOfMemory,
    LakeUnavailable,
    PublishVetoed,
    SnapshotExpired,
)

VETO = "catchment veto:"
"""The prefix of the texts of our refusals."""

_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class _Rule:
    kinds: tuple[type[duckdb.Error], ...]
    pattern: str
    make: Callable[[str], LakeError]


def _vetoed(text: str) -> LakeError:
    veto = re.search(rf"{VETO} (.*)", text)
    said = veto[1].strip() if veto else _short(text)
    return PublishVetoed(said, hint="Drop the result: another attempt has the refresh, or the table has moved on.")


def _refused(text: str) -> LakeError:
    return CommitConflict(f"another commit to the lake came first: {_short(text)}", hint="Do the transaction again.")


def _no_memory(text: str) -> LakeError:
    return LakeOutOfMemory(
        f"the query does not fit into memory: {_short(text)}",
        hint="Raise CATCHMENT_LAKE_MEMORY_LIMIT, or let the refresh be spread over more subtasks.",
    )


def _disk_full(text: str) -> LakeError:
    return LakeDiskFull(
        f"there is no space left: {_short(text)}",
        hint="Make room where the data are, or give DuckDB another folder: CATCHMENT_LAKE_TEMP_DIRECTORY.",
    )


def _no_storage(text: str) -> LakeError:
    return LakeUnavailable(
        f"the storage of the lake does not answer as it should: {_short(text)}",
        hint="Check CATCHMENT_S3_KEY_ID, _SECRET, _REGION and _ENDPOINT, and that the bucket exists.",
    )


def _no_catalog(text: str) -> LakeError:
    return LakeUnavailable(
        f"the catalog of the lake went away: {_short(text)}",
        code="CATALOG",
        hint="See that PostgreSQL runs. A commit that was under way may have happened or not.",
    )


_DISK = r"No space left on device|[Dd]isk quota|File too large|max_temp_directory_size"
_LOST = (
    r'Failed to execute query "ROLLBACK"|server closed the connection|connection to server|terminating connection|'
    r"no connection to the server|could not (receive|send) data|SSL connection has been closed"
)
# The first that fits counts. A refused commit quotes all SQL it was made of, and our own word comes last in it.
_RULES = (
    _Rule((duckdb.TransactionException,), VETO, _vetoed),
    _Rule((duckdb.OutOfMemoryException, duckdb.IOException), _DISK, _disk_full),
    _Rule((duckdb.OutOfMemoryException,), "", _no_memory),
    _Rule(
        (duckdb.InvalidInputException,),
        "No snapshot found at (version|timestamp)",
        lambda text: SnapshotExpired(_short(text)),
    ),
    _Rule(
        (duckdb.TransactionException,),
        "[Cc]onflict|Exceeded the maximum retry count|could not serialize access|deadlock detected",
        _refused,
    ),
    _Rule((duckdb.HTTPException,), "", _no_storage),
    _Rule((duckdb.IOException,), "HTTP|S3|Could not (resolve|connect)", _no_storage),
    _Rule((duckdb.IOException, duckdb.TransactionException, duckdb.ConnectionException), _LOST, _no_catalog),
)


def translate(error: duckdb.Error, *, stopped: str | None = None) -> Exception:
    """The Catchment error for an error of DuckDB, or that error itself when it is about the query."""
    text = str(error)
    if isinstance(error, duckdb.InterruptException):
        return LakeInterrupted(f"the query was stopped: {stopped or 'interrupted'}")
    # DuckDB's own class for what it has no class for: here only the catalog's connection.
    if type(error) is duckdb.Error and re.search(_LOST, text):
        return _no_catalog(text)
    for rule in _RULES:
        if isinstance(error, rule.kinds) and re.search(rule.pattern, text):
            return rule.make(text)
    return error


@contextmanager
def raising(translated: Callable[[duckdb.Error], Exception]) -> Generator[None]:
    """Within it, errors of DuckDB are raised as ``translated`` returns them, and Ctrl-C as Ctrl-C."""
    try:
        yield
    except duckdb.Error as error:
        raised = translated(error)
        if raised is error:
            raise
        raise raised from error
    except RuntimeError as error:
        # What DuckDB raises when Ctrl-C ends a query.
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


def is_broken(error: duckdb.Error) -> bool:
    """Is the DuckDB instance unusable after this? A lost connection to the catalog is reopened automatically."""
    return isinstance(error, (duckdb.FatalException, duckdb.InternalException))


def _short(text: str) -> str:
    """Its beginning: a failed commit quotes all SQL it was made of."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
