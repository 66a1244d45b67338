"""Rows of a file as lines of COPY, in the columns of the upload table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from catchment_register.upload.columns import Layout
from catchment_register.upload.mapping import Mapping
from catchment_register.upload.source import SourceRow

Pick = Callable[[Sequence[str]], str]
_NULL = "\\N"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class Permuter:
    """Turns rows into lines; decided once for each file, so a row costs only its cells."""

    def __init__(self, job_id: int, headers: Sequence[str], mapping: Mapping, layout: Layout) -> None:
        self._job_id = job_id
        place = {h: n for n, h in enumerate(headers)}
        picks: dict[str, Pick] = {}
        arrays = layout.arrays
        kept_in_arrays = {c for columns in arrays.values() for c in columns}
        for column in sorted((set(mapping.columns) | set(mapping.values)) - kept_in_arrays - set(mapping.split)):
            picks[column] = _cell(_picker(column, place, mapping))
        for column, separator in mapping.split.items():
            first = _picker(column, place, mapping)
            for part in range(3):
                picks[f"{column.removesuffix('1')}{part + 1}"] = _cell(_part(first, separator, part))
        for array, columns in arrays.items():
            pickers = [_picker(c, place, mapping) for c in columns]
            if any(c in mapping.columns or c in mapping.values for c in columns):
                picks[array] = _array(pickers)
        self._picks = list(picks.values())
        self.columns = ["job_id", "row_no", "problem", *picks]

    def line(self, row: SourceRow) -> str:
        """One line of COPY in text format. A row with a problem has no values."""
        if row.problem is not None:
            problem = json.dumps({"*": row.problem}, ensure_ascii=False).translate(_ESCAPES)
            return "\t".join([str(self._job_id), str(row.number), problem, *[_NULL] * len(self._picks)]) + "\n"
        fields = row.fields
        return "\t".join([str(self._job_id), str(row.number), _NULL, *[pick(fields) for pick in self._picks]]) + "\n"


def _picker(column: str, place: dict[str, int], mapping: Mapping) -> Pick:
    """The value of a column, trimmed; empty if there is none."""
    if column in mapping.columns:
        position = place[mapping.columns[column]]
        return lambda fields: fields[position].strip()
    constant = mapping.values.get(column, "")
    return lambda _: constant


def _cell(pick: Pick) -> Pick:
    def cell(fields: Sequence[str]) -> str:
        text = pick(fields)
        if not text:
            return _NULL
        return text if text.isalnum() else text.translate(_ESCAPES)

    return cell


def _part(pick: Pick, separator: str, part: int) -> Pick:
    """A line of an address; the third takes what is left."""

    def line(fields: Sequence[str]) -> str:
        parts = [p.strip() for p in pick(fields).split(separator)]
        if part == 2:
            return ", ".join(p for p in parts[2:] if p)
        return parts[part] if part < len(parts) else ""

    return line


def _array(pickers: list[Pick]) -> Pick:
    def array(fields: Sequence[str]) -> str:
        return "{" + ",".join([_element(pick(fields)) for pick in pickers]) + "}"

    return array


def _element(text: str) -> str:
    if not text:
        return "NULL"
    if text.isdigit():
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'.translate(_ESCAPES)
