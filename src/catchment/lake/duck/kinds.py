"""What kind of function a name is, as DuckDB says.

Its list has thousands of entries and takes 40 ms to read. Those of DuckDB and its extensions never change, so they are
read once in a process. A macro of a user can come and go: names that are not built in are looked up each time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from catchment.lake.query.calls import Macro

_KINDS = """
select lower(function_name) as name,
       case when bool_or(function_type = 'aggregate') then 'AGGREGATE'
            when bool_or(function_type = 'macro' and not internal) then 'MACRO'
            when bool_or(stability = 'VOLATILE') then 'VOLATILE'
            when bool_or(stability = 'CONSISTENT_WITHIN_QUERY') then 'CONSISTENT_WITHIN_QUERY'
            else 'CONSISTENT' end as kind
  from duckdb_functions()
 where {} and function_type in ('aggregate', 'scalar', 'macro')
 group by 1
"""
_BUILT_IN = _KINDS.format("internal")
_OTHERS = _KINDS.format("lower(function_name) = any(?)")

_MACROS = """
with all_functions as (select * from duckdb_functions())
select f.database_name, f.schema_name, f.function_name, f.macro_definition, f.function_type = 'table_macro',
       f.database_name <> 'system' and exists (select 1 from all_functions as o
                where o.database_name = 'system' and lower(o.function_name) = lower(f.function_name))
  from all_functions as f
 where f.database_name in (?, 'system') and f.function_type in ('macro', 'table_macro')
"""

_built_in: dict[str, str] = {}


def macros_of(catalog: str, rows: Callable[..., list[tuple[Any, ...]]]) -> list[Macro]:
    """All macros of a catalog, and DuckDB's own. ``rows`` runs a query with its parameters."""
    return [Macro(*row) for row in rows(_MACROS, [catalog])]


def function_kinds(names: Collection[str], rows: Callable[..., list[tuple[Any, ...]]]) -> Mapping[str, str]:
    """AGGREGATE, MACRO, VOLATILE, CONSISTENT_WITHIN_QUERY or CONSISTENT, by name in lower case; names that are not
    functions are skipped. ``rows`` runs a query with its parameters."""
    if not _built_in:
        _built_in.update(rows(_BUILT_IN))
    kinds = {name: _built_in[name] for name in names if name in _built_in}
    others = [name for name in names if name not in kinds]
    if others:
        kinds.update(rows(_OTHERS, [others]))
    return kinds
