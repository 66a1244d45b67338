"""For tests of applications: run handlers without a worker.

``run_inline`` runs a command and everything under it in this process, without a database. ``drain`` runs whatever is
runnable in the database, of both kinds, inside a transaction that the test rolls back. Both have an ``_async`` twin.
``in_transaction`` and ``in_database`` lead an app to the database of a test. The plugin for pytest has fixtures for all
of it.
"""

from typing import TYPE_CHECKING

from catchment.lazy import lazy_names

if TYPE_CHECKING:
    from catchment.testing.draining import drain, drain_async
    from catchment.testing.inline import run_inline, run_inline_async
    from catchment.testing.lent import in_database, in_transaction
    from catchment.testing.run import Run
else:
    # The plugin is in this package, and pytest imports it in every run.
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "Run": "run",
            "drain": "draining",
            "drain_async": "draining",
            "in_database": "lent",
            "in_transaction": "lent",
            "run_inline": "inline",
            "run_inline_async": "inline",
        },
    )

__all__ = ["Run", "drain", "drain_async", "in_database", "in_transaction", "run_inline", "run_inline_async"]
