"""The reasons why a table is refreshed fully, a definition is refused or a refresh fails: every code, with a sentence.

Codes are stable; they appear in the history, in ``explain`` and in errors. The sentence explains the code, the hint
says what to do about it, and the example is a query that is refused with it. There are no other codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from catchment.errors import TableRefused

Group = Literal["full", "refused", "run", "error"]


class Reason(StrEnum):
    """A code. The groups follow each other: full by definition, refused, decided at run time, error of a refresh."""

    LIMIT = "LIMIT"
    SUBQUERY = "SUBQUERY"
    GROUPING_SETS = "GROUPING_SETS"
    RECURSIVE_CTE = "RECURSIVE_CTE"
    PIVOT = "PIVOT"
    SAMPLE = "SAMPLE"
    ASOF_JOIN = "ASOF_JOIN"
    LATERAL = "LATERAL"
    DISTINCT_ON = "DISTINCT_ON"
    NESTED_JOIN = "NESTED_JOIN"
    VOLATILE_FUNCTION = "VOLATILE_FUNCTION"
    TIME_DEPENDENT = "TIME_DEPENDENT"
    ORDER_DEPENDENT = "ORDER_DEPENDENT"
    COLLATION = "COLLATION"
    UNTRACKED_SOURCE = "UNTRACKED_SOURCE"
    ROWID_HIDDEN = "ROWID_HIDDEN"
    KEY_TYPE = "KEY_TYPE"
    UNRESOLVED = "UNRESOLVED"
    SYNTAX = "SYNTAX"
    NO_SOURCE = "NO_SOURCE"
    MODE_FULL = "MODE_FULL"

    PARSE_ERROR = "PARSE_ERROR"
    NOT_A_SELECT = "NOT_A_SELECT"
    PIVOT_WITHOUT_IN = "PIVOT_WITHOUT_IN"
    AMBIGUOUS_NAME = "AMBIGUOUS_NAME"
    SESSION_FUNCTION = "SESSION_FUNCTION"
    UNKNOWN_TABLE = "UNKNOWN_TABLE"
    UNKNOWN_COLUMN = "UNKNOWN_COLUMN"
    VIEW_SOURCE = "VIEW_SOURCE"
    CYCLE = "CYCLE"
    RESERVED_NAME = "RESERVED_NAME"
    UNSUPPORTED_TYPE = "UNSUPPORTED_TYPE"
    LIMIT_WITHOUT_ORDER = "LIMIT_WITHOUT_ORDER"
    INCREMENTAL_NOT_POSSIBLE = "INCREMENTAL_NOT_POSSIBLE"
    STRATEGY_NOT_POSSIBLE = "STRATEGY_NOT_POSSIBLE"

    FIRST_FILL = "FIRST_FILL"
    DEFINITION_CHANGED = "DEFINITION_CHANGED"
    SOURCE_REPLACED = "SOURCE_REPLACED"
    SOURCE_RETYPED = "SOURCE_RETYPED"
    SNAPSHOT_EXPIRED = "SNAPSHOT_EXPIRED"
    FEED_MISMATCH = "FEED_MISMATCH"
    FEED_INLINED = "FEED_INLINED"
    FOREIGN_WRITE = "FOREIGN_WRITE"
    INVARIANT = "INVARIANT"
    AUDIT = "AUDIT"
    ROWID_NOT_UNIQUE = "ROWID_NOT_UNIQUE"
    ROWID_CHANGED = "ROWID_CHANGED"
    STEP_FAILED = "STEP_FAILED"
    STEP_TOO_BIG = "STEP_TOO_BIG"
    COST = "COST"
    SMALL_TABLE = "SMALL_TABLE"

    SOURCE_MISSING = "SOURCE_MISSING"
    SOURCE_COLUMN_MISSING = "SOURCE_COLUMN_MISSING"
    TYPE_CHANGED = "TYPE_CHANGED"
    QUERY = "QUERY"
    MEMORY = "MEMORY"
    DISK_FULL = "DISK_FULL"
    STORAGE = "STORAGE"
    CONFLICT = "CONFLICT"
    FENCED = "FENCED"
    TIMEOUT = "TIMEOUT"
    NO_PROGRESS = "NO_PROGRESS"
    DEPENDENCY = "DEPENDENCY"
    INTERRUPTED = "INTERRUPTED"
    INTERNAL = "INTERNAL"

    @property
    def group(self) -> Group:
        """The group of the code."""
        return _TEXTS[self].group

    @property
    def sentence(self) -> str:
        """The meaning, as a sentence."""
        return _TEXTS[self].sentence

    @property
    def hint(self) -> str | None:
        """What to do about it, or None if there is nothing to do."""
        return _TEXTS[self].hint

    @property
    def example(self) -> str | None:
        """A query that is refused for this reason, or None if a query alone does not cause it."""
        return _TEXTS[self].example


class NotIncremental(Exception):
    """Raised by the analysis of a definition that can only be refreshed fully, with the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Text:
    group: Group
    sentence: str
    hint: str | None = None
    example: str | None = None


def refused(reason: Reason, message: str, *, hint: str | None = None) -> TableRefused:
    """The error for a definition that is refused. The hint defaults to that of the reason."""
    return TableRefused(message, code=reason.value, hint=hint or reason.hint)


_SPLIT = "Move that part into a separate dynamic table and read that one here."

_TEXTS: dict[Reason, _Text] = {
    Reason.LIMIT: _Text(
        "full",
        "LIMIT selects rows by their position among all rows, so one changed row can move any other.",
        "Leave LIMIT to the query that reads the table.",
    ),
    Reason.SUBQUERY: _Text(
        "full",
        "A subquery inside an expression is correlated with the outer query by more than equalities in its WHERE, or "
        "is part of a JOIN condition, of ANY or ALL, or of a SELECT without FROM.",
        "Write it as a JOIN, SEMI JOIN or ANTI JOIN.",
    ),
    Reason.GROUPING_SETS: _Text(
        "full",
        "GROUPING SETS, ROLLUP or CUBE produce more than 32 sets, or group by a constant.",
        "Name the sets that are needed.",
    ),
    Reason.RECURSIVE_CTE: _Text("full", "In a recursive query, a changed row can affect any other row."),
    Reason.PIVOT: _Text(
        "full", "PIVOT and UNPIVOT cannot be refreshed incrementally.", "Write CASE expressions with GROUP BY."
    ),
    Reason.SAMPLE: _Text("full", "A sample returns different rows each time."),
    Reason.ASOF_JOIN: _Text("full", "ASOF and POSITIONAL joins depend on the order of all rows."),
    Reason.LATERAL: _Text(
        "full",
        "A LATERAL query over a table, several UNNEST among the outputs, or one UNNEST over groups is used.",
        _SPLIT,
    ),
    Reason.DISTINCT_ON: _Text(
        "full",
        "DISTINCT ON keeps one of several rows.",
        "Use QUALIFY row_number() OVER (PARTITION BY … ORDER BY …) = 1.",
    ),
    Reason.NESTED_JOIN: _Text(
        "full",
        "A join is the right side of another join, or a comma precedes RIGHT or FULL JOIN.",
        _SPLIT,
    ),
    Reason.VOLATILE_FUNCTION: _Text(
        "full", "A function returns a different value each time, so the table is never up to date."
    ),
    Reason.TIME_DEPENDENT: _Text(
        "full",
        "The result changes with time, even if no data changes.",
        "Use the time only in WHERE, or in the query that reads the table.",
    ),
    Reason.ORDER_DEPENDENT: _Text(
        "full",
        "An aggregate or window depends on the order in which rows arrive.",
        "Give it an ORDER BY, or use min or max.",
    ),
    Reason.COLLATION: _Text("full", "A collation treats different texts as equal.", "Compare lower(…) instead."),
    Reason.UNTRACKED_SOURCE: _Text(
        "full", "The query reads a table function, a macro or another catalog, whose changes cannot be detected."
    ),
    Reason.ROWID_HIDDEN: _Text(
        "full",
        "A source has a column called rowid, which hides the row ids that identify changes.",
        "Rename that column of the source.",
    ),
    Reason.KEY_TYPE: _Text(
        "full",
        "Rows are grouped, joined or compared by a type that a table cannot store, such as row(a, b) or BIT.",
        "Group or join by the individual fields, or by a text.",
    ),
    Reason.UNRESOLVED: _Text(
        "full",
        "The columns of the definition could not be traced to their tables.",
        "Name every column with its table, and spell out * and COLUMNS(…).",
    ),
    Reason.SYNTAX: _Text(
        "full",
        "A part of the query uses syntax that only DuckDB can parse, so the query is run as written.",
        "Rewrite that part: use a function instead of an operator or a special form.",
    ),
    Reason.NO_SOURCE: _Text("full", "The definition reads no table."),
    Reason.MODE_FULL: _Text("full", "The table has REFRESH_MODE = FULL."),
    Reason.PARSE_ERROR: _Text("refused", "The statement cannot be parsed.", example="SELECT FROM WHERE"),
    Reason.NOT_A_SELECT: _Text(
        "refused", "The definition of a dynamic table must be one SELECT.", example="DROP TABLE orders"
    ),
    Reason.PIVOT_WITHOUT_IN: _Text(
        "refused",
        "PIVOT without a list of values takes its columns from the data, but the columns of a table are fixed.",
        "List the values with IN: PIVOT t ON kind IN ('a', 'b') USING sum(amount).",
        "SELECT * FROM (PIVOT orders ON note USING sum(amount))",
    ),
    Reason.AMBIGUOUS_NAME: _Text(
        "refused",
        "A name could have another meaning in a refresh than in your session.",
        "Write it with catalog and schema: lake.main.name.",
        "SELECT order_id FROM lake.orders",
    ),
    Reason.SESSION_FUNCTION: _Text(
        "refused",
        "A function depends on the session, and each refresh runs in a different one.",
        "Write the value instead.",
        "SELECT order_id, CURRENT_SCHEMA AS u FROM orders",
    ),
    Reason.UNKNOWN_TABLE: _Text("refused", "A table does not exist in the lake.", example="SELECT a FROM nowhere"),
    Reason.UNKNOWN_COLUMN: _Text("refused", "A column does not exist.", example="SELECT nothing FROM orders"),
    Reason.VIEW_SOURCE: _Text(
        "refused",
        "A view cannot be expanded into its query.",
        "Read the tables behind the view, or make it a dynamic table.",
    ),
    Reason.CYCLE: _Text("refused", "The table would read itself, directly or through others."),
    Reason.RESERVED_NAME: _Text(
        "refused",
        "Names that begin with two underscores are reserved, and so is rowid.",
        "Choose another name with AS.",
        "SELECT order_id AS __rid FROM orders",
    ),
    Reason.UNSUPPORTED_TYPE: _Text(
        "refused",
        "The lake cannot store a column of this type.",
        "Cast the column.",
        "SELECT CAST('101' AS BIT) AS b FROM orders",
    ),
    Reason.LIMIT_WITHOUT_ORDER: _Text(
        "refused",
        "LIMIT without ORDER BY can return different rows each time.",
        "Add an ORDER BY that leaves no ties.",
        "SELECT order_id FROM orders LIMIT 1",
    ),
    Reason.INCREMENTAL_NOT_POSSIBLE: _Text(
        "refused",
        "REFRESH_MODE = INCREMENTAL needs a definition that can be refreshed incrementally.",
        "Use REFRESH_MODE = AUTO, or change the definition.",
    ),
    Reason.STRATEGY_NOT_POSSIBLE: _Text(
        "refused",
        "The keys of this table cannot be divided by the given strategy.",
        "Use parallel_strategy = hash_range.",
    ),
    Reason.FIRST_FILL: _Text("run", "The table was filled for the first time."),
    Reason.DEFINITION_CHANGED: _Text("run", "The definition was replaced."),
    Reason.SOURCE_REPLACED: _Text("run", "A source was dropped and recreated."),
    Reason.SOURCE_RETYPED: _Text("run", "A column of a source was replaced or has another type."),
    Reason.SNAPSHOT_EXPIRED: _Text("run", "The version that the table was computed from has expired."),
    Reason.FEED_MISMATCH: _Text(
        "run",
        "The changes of a source do not add up to its rows.",
        "Writers of sources should hold the commit lock while they delete.",
    ),
    Reason.FEED_INLINED: _Text(
        "run",
        "A source has inlined changes, which DuckLake assigns to wrong snapshots.",
        "Set data_inlining_row_limit to 0.",
    ),
    Reason.FOREIGN_WRITE: _Text("run", "Another session wrote to the table."),
    Reason.AUDIT: _Text(
        "run",
        "An audit found rows that the query does not return, or missing rows.",
        "Please report it, unless another session writes to the table.",
    ),
    Reason.INVARIANT: _Text("run", "A stored count would have become negative, or a row to delete was missing."),
    Reason.ROWID_NOT_UNIQUE: _Text(
        "run",
        "A source holds row ids that are not unique.",
        "Do not INSERT and UPDATE the same rows in one transaction.",
    ),
    Reason.ROWID_CHANGED: _Text(
        "run",
        "Files of a source were merged, which gives updated rows other row ids.",
        "Merge the files of a source less often, or group the definition by a key column.",
    ),
    Reason.STEP_FAILED: _Text(
        "run",
        "A step of the incremental refresh failed on rows that exist in no version of the result.",
        "Use TRY_CAST, or compute such values in a separate table before the join.",
    ),
    Reason.STEP_TOO_BIG: _Text(
        "run",
        "A step of the incremental refresh did not fit into memory, and could not be divided among workers.",
        "Raise CATCHMENT_LAKE_MEMORY_LIMIT or add workers; or set REFRESH_MODE = FULL.",
    ),
    Reason.COST: _Text("run", "A full refresh was expected to be faster."),
    Reason.SMALL_TABLE: _Text("run", "The table is so small that a full refresh costs nothing."),
    Reason.SOURCE_MISSING: _Text(
        "error", "A source is no longer a table of the lake.", "Recreate it, or replace the definition."
    ),
    Reason.SOURCE_COLUMN_MISSING: _Text(
        "error",
        "A source no longer has a column that the query uses.",
        "Add it again, or CREATE OR REPLACE the dynamic table.",
    ),
    Reason.TYPE_CHANGED: _Text(
        "error", "A column of the result has another type than in the table.", "CREATE OR REPLACE the dynamic table."
    ),
    Reason.QUERY: _Text("error", "The definition raised an error.", "Change the data or the definition."),
    Reason.MEMORY: _Text(
        "error", "The refresh did not fit into memory.", "Raise CATCHMENT_LAKE_MEMORY_LIMIT or add workers."
    ),
    Reason.DISK_FULL: _Text("error", "The disk is full.", "Free some space, or set CATCHMENT_LAKE_TEMP_DIRECTORY."),
    Reason.STORAGE: _Text("error", "The catalog or the data files could not be reached."),
    Reason.CONFLICT: _Text("error", "Other commits to the table were repeatedly faster."),
    Reason.FENCED: _Text("error", "Another attempt took over the refresh."),
    Reason.TIMEOUT: _Text("error", "The refresh took longer than CATCHMENT_PARALLEL_TIMEOUT_SECONDS."),
    Reason.NO_PROGRESS: _Text("error", "No subtask started or ended for CATCHMENT_PARALLEL_NO_PROGRESS_SECONDS."),
    Reason.DEPENDENCY: _Text(
        "error", "A table that this one reads has no version for this snapshot.", "Refresh that table first."
    ),
    Reason.INTERRUPTED: _Text("error", "The refresh was stopped."),
    Reason.INTERNAL: _Text("error", "An internal error occurred.", "Please report it."),
}
