"""For tests of applications: run handlers without a worker.

``run_inline`` runs a command and everything under it in this process, without a database. ``drain`` runs whatever is
runnable in the database, of both kinds, inside a transaction that the test rolls back. Both have an ``_async`` twin.
``pytest_plugins = ["catchment.testing.fixtures"]`` gives tests a database with the schema, ``catchment_tx``.
"""

from catchment.testing.drain import drain, drain_async
from catchment.testing.inline import run_inline, run_inline_async
from catchment.testing.run import Run

__all__ = ["Run", "drain", "drain_async", "run_inline", "run_inline_async"]
