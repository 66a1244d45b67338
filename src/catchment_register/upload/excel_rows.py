"""Reads a sheet of an Excel file row by row. Needs openpyxl, which is an extra."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any

from catchment_register.errors import refuse
from catchment_register.upload.source import Source, SourceRow

SUFFIXES = (".xlsx", ".xlsm")


@contextmanager
def open_excel(path: Path, *, sheet: int = 1) -> Generator[Source]:
    """Open a sheet, counted from 1, and read its header. Raises ``FileRefused`` if there is none."""
    book = _load(path)
    try:
        if not 1 <= sheet <= len(book.worksheets):
            raise refuse(path, f"it has {len(book.worksheets)} sheets, not {sheet}")
        rows = book.worksheets[sheet - 1].iter_rows(values_only=True)
        header = next(rows, None)
        if header is None or not any(header):
            raise refuse(path, "the sheet is empty", "Its first row must name the columns.")
        headers = [_text(cell).strip() for cell in header]
        while headers and not headers[-1]:
            headers.pop()
        yield Source(headers, read_rows(rows, len(headers)))
    finally:
        book.close()


def _load(path: Path) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise refuse(path, "Excel files need openpyxl", "Run: pip install 'catchment[register]'") from None
    try:
        return openpyxl.load_workbook(path, read_only=True, data_only=True)
    except OSError as error:
        raise refuse(path, error.strerror or str(error)) from None
    except Exception as error:  # openpyxl raises whatever its parsers do
        raise refuse(path, f"it is not an Excel file: {error}") from None


def read_rows(rows: Iterator[Sequence[Any]], width: int) -> Iterator[SourceRow]:
    """Rows as text. Blank ones are counted and skipped."""
    for number, cells in enumerate(rows, 1):
        fields = [_text(cell) for cell in cells]
        if not any(fields):
            continue
        if any(fields[width:]):
            yield SourceRow(number, (), f"the row has more than {width} fields")
        else:
            yield SourceRow(number, (fields + [""] * width)[:width])


def _text(cell: Any) -> str:
    """A cell as a CSV file would have it: days as 2026-02-13, whole numbers without a point."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return cell.date().isoformat()
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).replace("\0", "")
