"""Why a table is refreshed as a whole, why a definition is refused, why a refresh failed: every code, with a sentence.

A code is stable and ends up in history, in ``explain`` and in errors; the sentence says what it means, the hint what to
do about it, the example which query is refused for it. What is not listed here cannot be the reason for anything.
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
        """Which kind of reason it is."""
        return _TEXTS[self].group

    @property
    def sentence(self) -> str:
        """What it means, as a sentence."""
        return _TEXTS[self].sentence

    @property
    def hint(self) -> str | None:
        """What to do about it, or None when there is nothing to do."""
        return _TEXTS[self].hint

    @property
    def example(self) -> str | None:
        """A query that is refused for it, or None when a query alone is not enough."""
        return _TEXTS[self].example


class NotIncremental(Exception):
    """Raised while a definition is looked into: it can only be refreshed fully, for this reason."""

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
    """The error for a definition that cannot be carried out; the hint is the reason's own unless another is given."""
    return TableRefused(message, code=reason.value, hint=hint or reason.hint)


_SPLIT = "Move that part into a separate dynamic table and read that one here."

_TEXTS: dict[Reason, _Text] = {
    Reason.LIMIT: _Text(
        "full",
        "LIMIT keeps rows by their place among all rows, so one changed row can move any other.",
        "Leave LIMIT to the query that reads the table.",
    ),
    Reason.SUBQUERY: _Text(
        "full",
        "A subquery inside an expression is tied to the outer query by more than equalities in its WHERE, or stands in "
        "a JOIN condition, ANY or ALL, or in a SELECT without FROM.",
        "Write it as a JOIN, SEMI JOIN or ANTI JOIN.",
    ),
    Reason.GROUPING_SETS: _Text(
        "full",
        "GROUPING SETS, ROLLUP and CUBE give more than 32 sets, or group by a constant.",
        "Name the sets that are needed.",
    ),
    Reason.RECURSIVE_CTE: _Text("full", "A recursive query can reach any row from a changed one."),
    Reason.PIVOT: _Text("full", "PIVOT and UNPIVOT are computed as a whole.", "Write CASE expressions with GROUP BY."),
    Reason.SAMPLE: _Text("full", "A sample is another one each time."),
    Reason.ASOF_JOIN: _Text("full", "ASOF and POSITIONAL joins depend on the order of all rows."),
    Reason.LATERAL: _Text(
        "full",
        "A LATERAL query over a table, several UNNEST among the outputs, or one over groups are computed as a whole.",
        _SPLIT,
    ),
    Reason.DISTINCT_ON: _Text(
        "full",
        "DISTINCT ON keeps one row of many.",
        "Use QUALIFY row_number() OVER (PARTITION BY … ORDER BY …) = 1.",
    ),
    Reason.NESTED_JOIN: _Text(
        "full",
        "A join on the right side of another, or a comma before RIGHT or FULL JOIN, is computed as a whole.",
        _SPLIT,
    ),
    Reason.VOLATILE_FUNCTION: _Text("full", "A function gives another value each time, so the table is never settled."),
    Reason.TIME_DEPENDENT: _Text(
        "full",
        "The result changes with the clock, without any change of data.",
        "Use the time in WHERE alone, or in the query that reads the table.",
    ),
    Reason.ORDER_DEPENDENT: _Text(
        "full",
        "An aggregate or window depends on the order in which rows arrive.",
        "Give it an ORDER BY, or use min or max.",
    ),
    Reason.COLLATION: _Text("full", "A collation calls different texts equal.", "Compare lower(…) instead."),
    Reason.UNTRACKED_SOURCE: _Text(
        "full", "A table function, a macro or another catalog is read, and nothing tells when it changes."
    ),
    Reason.ROWID_HIDDEN: _Text(
        "full",
        "A source has a column called rowid, which hides the row ids that identify changes.",
        "Rename that column of the source.",
    ),
    Reason.KEY_TYPE: _Text(
        "full",
        "What rows are grouped, joined or compared by has a type that no table can hold, such as row(a, b) or BIT.",
        "Group or join by the fields one by one, or by a text.",
    ),
    Reason.UNRESOLVED: _Text(
        "full",
        "The columns of the definition could not be traced to their tables.",
        "Name every column with its table, and spell out * and COLUMNS(…).",
    ),
    Reason.SYNTAX: _Text(
        "full",
        "A part of the query is written in a way that DuckDB alone reads, so it is run as it is written.",
        "Write that part in another way: a function instead of an operator or a special form.",
    ),
    Reason.NO_SOURCE: _Text("full", "The definition reads no table."),
    Reason.MODE_FULL: _Text("full", "REFRESH_MODE = FULL was asked for."),
    Reason.PARSE_ERROR: _Text("refused", "The text is not understood.", example="SELECT FROM WHERE"),
    Reason.NOT_A_SELECT: _Text("refused", "A dynamic table is defined by one SELECT.", example="DROP TABLE orders"),
    Reason.PIVOT_WITHOUT_IN: _Text(
        "refused",
        "PIVOT without a list of values takes its columns from the data; those of a table are fixed.",
        "List the values with IN: PIVOT t ON kind IN ('a', 'b') USING sum(amount).",
        "SELECT * FROM (PIVOT orders ON note USING sum(amount))",
    ),
    Reason.AMBIGUOUS_NAME: _Text(
        "refused",
        "A name may mean one thing in a refresh and another by hand.",
        "Write it with catalog and schema: lake.main.name.",
        "SELECT order_id FROM lake.orders",
    ),
    Reason.SESSION_FUNCTION: _Text(
        "refused",
        "A function asks about the session, and each refresh has another one.",
        "Write the value instead.",
        "SELECT order_id, CURRENT_SCHEMA AS u FROM orders",
    ),
    Reason.UNKNOWN_TABLE: _Text("refused", "A table does not exist in the lake.", example="SELECT a FROM nowhere"),
    Reason.UNKNOWN_COLUMN: _Text("refused", "A column does not exist.", example="SELECT nothing FROM orders"),
    Reason.VIEW_SOURCE: _Text(
        "refused",
        "A view cannot be replaced by its query.",
        "Read the tables behind the view, or make it a dynamic table.",
    ),
    Reason.CYCLE: _Text("refused", "The table would read itself, directly or through others."),
    Reason.RESERVED_NAME: _Text(
        "refused",
        "Names that start with two underscores are ours, and rowid is the lake's.",
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
        "LIMIT without ORDER BY keeps other rows each time.",
        "Add an ORDER BY that leaves no ties.",
        "SELECT order_id FROM orders LIMIT 1",
    ),
    Reason.INCREMENTAL_NOT_POSSIBLE: _Text(
        "refused", "REFRESH_MODE = INCREMENTAL was asked for.", "Use REFRESH_MODE = AUTO, or change the definition."
    ),
    Reason.STRATEGY_NOT_POSSIBLE: _Text(
        "refused", "The keys of this table cannot be cut that way.", "Use parallel_strategy = hash_range."
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
        "run", "A source was written with inlining, whose changes are misdated.", "Set data_inlining_row_limit to 0."
    ),
    Reason.FOREIGN_WRITE: _Text("run", "Another session wrote to the table."),
    Reason.AUDIT: _Text(
        "run",
        "An audit found rows that the query does not return, or missing rows.",
        "Please report it, unless another session writes to the table.",
    ),
    Reason.INVARIANT: _Text("run", "A stored count would have become negative, or a row to delete was not there."),
    Reason.ROWID_NOT_UNIQUE: _Text(
        "run",
        "A source holds row ids that are not unique.",
        "Do not INSERT and UPDATE the same rows in one transaction.",
    ),
    Reason.ROWID_CHANGED: _Text(
        "run",
        "Files of a source were merged, which gives updated rows other row ids.",
        "Merge the files of a source seldom, or group the definition by a key of your own.",
    ),
    Reason.STEP_FAILED: _Text(
        "run",
        "A step of the incremental refresh failed on rows that no version of the result has.",
        "Use TRY_CAST, or compute such values in a separate table before the join.",
    ),
    Reason.STEP_TOO_BIG: _Text(
        "run",
        "A step of the incremental refresh did not fit into memory, and it could not be spread.",
        "Raise CATCHMENT_LAKE_MEMORY_LIMIT or add workers; or set REFRESH_MODE = FULL.",
    ),
    Reason.COST: _Text("run", "A full refresh was expected to be faster."),
    Reason.SMALL_TABLE: _Text("run", "The table is so small that a full refresh costs nothing."),
    Reason.SOURCE_MISSING: _Text(
        "error", "A source is no table of the lake any more.", "Make it again, or replace the definition."
    ),
    Reason.SOURCE_COLUMN_MISSING: _Text(
        "error", "A source lost a column that is used.", "Add it again, or CREATE OR REPLACE the dynamic table."
    ),
    Reason.TYPE_CHANGED: _Text(
        "error", "A column of the result has another type than the table.", "CREATE OR REPLACE the dynamic table."
    ),
    Reason.QUERY: _Text("error", "The definition raised an error.", "Change the data or the definition."),
    Reason.MEMORY: _Text(
        "error", "The refresh did not fit into memory.", "Raise CATCHMENT_LAKE_MEMORY_LIMIT or add workers."
    ),
    Reason.DISK_FULL: _Text("error", "There is no space left.", "Free some, or set CATCHMENT_LAKE_TEMP_DIRECTORY."),
    Reason.STORAGE: _Text("error", "The catalog or the data files could not be reached."),
    Reason.CONFLICT: _Text("error", "Other commits came first again and again."),
    Reason.FENCED: _Text("error", "Another attempt took the refresh over."),
    Reason.TIMEOUT: _Text("error", "The refresh took longer than CATCHMENT_PARALLEL_TIMEOUT_SECONDS."),
    Reason.NO_PROGRESS: _Text("error", "No subtask started or ended for CATCHMENT_PARALLEL_NO_PROGRESS_SECONDS."),
    Reason.DEPENDENCY: _Text("error", "A table above has no version for this snapshot.", "Refresh that table first."),
    Reason.INTERRUPTED: _Text("error", "The refresh was stopped."),
    Reason.INTERNAL: _Text("error", "Something went wrong that should not.", "Please report it."),
}
