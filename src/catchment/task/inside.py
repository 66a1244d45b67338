"""Whether code runs in a handler of a worker."""

from __future__ import annotations

from contextvars import ContextVar

# True in the context of every handler, and so in the tasks and threads that it starts.
IN_HANDLER: ContextVar[bool] = ContextVar("catchment_in_handler", default=False)
