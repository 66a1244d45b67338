"""What ``Lake.read`` returns: the rows of a query or a table, in the form that is requested.

Arrow, Polars and pandas are imported when their form is requested, and only then.
"""

# Arrow and pandas have no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import duckdb
from duckdb import DuckDBPyConnection

from catchment.errors import ExtraMissing
from catchment.lake.duck.duck_errors import raising
from catchment.lake.duck.reader import Reader
from catchment.lake.query.parse import numbered_names
from catchment.lake.types import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
else:
    # For who asks for the hints of a method: the libraries may not be installed.
    pandas = polars = pyarrow = SimpleNamespace(DataFrame=Any, RecordBatch=Any, Table=Any)

BATCH_ROWS = 100_000
_FETCHED = 10_000


class Readers:
    """Readers that are free: each result takes one, and gives it back when it has been read. Safe for threads.

    Without ``is_kept`` each is used once.
    """

    def __init__(self, open_reader: Callable[[Sequence[str]], Reader], *, is_kept: bool = True) -> None:
        self._open = open_reader
        self._is_kept = is_kept
        self._free: list[Reader] = []
        self._lock = threading.Lock()

    @contextmanager
    def reader(self, *, writes: Sequence[str] = ()) -> Generator[Reader]:
        """A reader that nobody else uses; one that may write files is used once."""
        with self._lock:
            reader = self._free.pop() if self._free and not writes else None
        reader = reader or self._open(writes)
        reader.is_broken = bool(writes) or not self._is_kept
        try:
            yield reader
        except KeyboardInterrupt:
            reader.is_broken = True  # it may still run the query
            raise
        finally:
            if not reader.is_broken:
                reader.end()
            if reader.is_broken:
                reader.close()
            else:
                with self._lock:
                    self._free.append(reader)

    def close(self) -> None:
        """Close those that are free."""
        with self._lock:
            free, self._free = self._free, []
        for reader in free:
            reader.close()


class OpenRows:
    """The result of a query that has been run. Iterating gives its rows, once, a few thousand in memory at a time."""

    def __init__(self, result: DuckDBPyConnection) -> None:
        self._result = result
        self.columns = numbered_names([Column(item[0], str(item[1])) for item in result.description or ()])
        """Names and types. Columns of one name are numbered: ``a``, ``a_1``."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        while rows := self._result.fetchmany(_FETCHED):
            yield from rows


class Rows:
    """The rows of a query or a table of the lake, as of one snapshot. Each method runs the query, in a transaction that
    only reads; iterating gives tuples, a few thousand in memory at a time. For any thread.

    Raises ``RequestRefused`` for a statement that does more than read, ``LakeError`` for what goes wrong with the lake,
    ``duckdb.Error`` for what is wrong with the query, ``ExtraMissing`` for a library that is not installed.
    """

    def __init__(self, readers: Readers, find: Callable[[], str], parameters: Sequence[Any]) -> None:
        self._readers = readers
        self._find = find
        self._parameters = tuple(parameters)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        with self.open() as result:
            yield from result

    @contextmanager
    def open(self) -> Generator[OpenRows]:
        """Run the query and have its columns first, then its rows."""
        with self._result() as result:
            yield OpenRows(result)

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows as tuples."""
        with self._result() as result:
            return result.fetchall()

    def arrow(self) -> pyarrow.Table:
        """All rows as an Arrow table. Needs ``pip install pyarrow``."""
        _need("pyarrow")
        with self._result() as result:
            return result.to_arrow_table()

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pyarrow.RecordBatch]:
        """Arrow batches of about this many rows, one after the other: for results that do not fit into memory. Needs
        ``pip install pyarrow``."""
        _need("pyarrow")
        with self._result() as result:
            yield from result.to_arrow_reader(rows)

    def polars(self) -> polars.DataFrame:
        """All rows as a Polars frame. Needs ``pip install polars pyarrow``."""
        polars = _need("polars", "pyarrow")
        return polars.from_arrow(self.arrow(), rechunk=False)

    def pandas(self, *, dtype_backend: Literal["pyarrow", "numpy_nullable"] | None = None) -> pandas.DataFrame:
        """All rows as a pandas frame. Needs ``pip install pandas pyarrow``.

        Without ``dtype_backend``, columns have the types of NumPy, as pandas has them by itself: whole numbers with
        NULLs among them become floating-point numbers. ``pyarrow`` keeps every value as it is.
        """
        pandas = _need("pandas", "pyarrow")
        table = self.arrow()
        if dtype_backend is None:
            return table.to_pandas()
        if dtype_backend == "pyarrow":
            return table.to_pandas(types_mapper=pandas.ArrowDtype)
        return table.to_pandas(types_mapper=pandas.ArrowDtype).convert_dtypes(dtype_backend=dtype_backend)

    def parquet(self, path: str | os.PathLike[str]) -> int:
        """Write all rows to a Parquet file, which is there when all are in it; returns how many. A file of that name is
        replaced."""
        target = os.path.abspath(path)
        part = f"{target}.{secrets.token_hex(6)}.tmp"
        try:
            with self._result(writes=[part]) as result:
                ((count,),) = result.fetchall()
            os.replace(part, target)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(part)
        return count

    @contextmanager
    def _result(self, *, writes: Sequence[str] = ()) -> Generator[DuckDBPyConnection]:
        with self._readers.reader(writes=writes) as reader, raising(reader.translated):
            into = writes[0] if writes else None
            try:
                result = reader.run(self._find(), self._parameters, into=into)
            except duckdb.CatalogException:
                result = reader.run(self._find(), self._parameters, into=into)  # a table was replaced meanwhile
            yield result


def _need(*modules: str) -> Any:
    """The first of these modules, if all are installed."""
    for module in modules:
        if find_spec(module) is None:
            error = ExtraMissing(
                f"rows in this form need {module}, which is not installed", hint=f"Run: pip install {' '.join(modules)}"
            )
            error.name = module
            raise error
    return import_module(modules[0])
