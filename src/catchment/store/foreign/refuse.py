"""Refusals of what cannot be a caller's connection. Each says what was given and what to pass."""

from __future__ import annotations

from catchment.errors import RequestRefused

ACCEPTED = (
    "a psycopg, psycopg2 or asyncpg connection, a SQLAlchemy Session, AsyncSession, Connection or AsyncConnection,"
    " or a Django connection"
)


def kind_of(conn: object) -> str:
    """The class of an object as people write it."""
    kind = type(conn)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]} {kind.__name__}"


def refused(conn: object, remedy: str | None = None) -> RequestRefused:
    """It is no connection."""
    return RequestRefused(f"conn is {_article(kind_of(conn))}, expected {ACCEPTED}", hint=remedy)


def closed(conn: object) -> RequestRefused:
    """It was a connection."""
    return RequestRefused(
        f"conn is {_article(kind_of(conn))} that is closed, expected an open one",
        hint="Enqueue inside the block or the transaction to which the connection belongs.",
    )


def failed(conn: object) -> RequestRefused:
    """Its transaction takes no more statements."""
    return RequestRefused(
        f"conn is {_article(kind_of(conn))} whose transaction has failed, expected a usable one",
        hint="Roll back first, to a savepoint or as a whole. What failed was raised where it happened.",
    )


def taken(conn: object) -> RequestRefused:
    """A COPY, or a statement whose rows are streamed, has it until that is over: a statement would wait forever."""
    return RequestRefused(
        f"conn is {_article(kind_of(conn))} with a COPY or a stream() that is not over, expected one that is free",
        hint="Enqueue before or after that block, or use another connection.",
    )


def unusable(conn: object, reason: object) -> RequestRefused:
    """Its library does not take a statement now. The first line of what it says is the reason."""
    said = str(reason).strip().partition("\n")[0]
    return RequestRefused(
        f"conn is {_article(kind_of(conn))} that cannot be used now: {said}",
        hint="Enqueue inside the block or the transaction to which the connection belongs.",
    )


def of_another_loop(conn: object) -> RequestRefused:
    """A connection of asyncio belongs to the event loop that has opened it."""
    return RequestRefused(
        f"conn is {_article(kind_of(conn))} of another event loop, expected one that was opened in this one",
        hint="Open the connection, or the pool, in the event loop in which you enqueue.",
    )


def missing() -> RequestRefused:
    """None where a connection was meant."""
    return RequestRefused(
        f"conn is None, expected {ACCEPTED}",
        hint="To enqueue the task in a separate transaction, omit conn.",
    )


def of_the_wrong_kind(conn: object, *, needs_async: bool) -> RequestRefused:
    """A connection of asyncio where one without is needed, or the other way round."""
    if needs_async:
        return RequestRefused(
            f"conn is {_article(kind_of(conn))}, which blocks, expected a connection of asyncio here",
            hint="Pass an AsyncSession, AsyncConnection or asyncpg connection; or use the blocking form, app.sync.",
        )
    return RequestRefused(
        f"conn is {_article(kind_of(conn))}, a connection of asyncio, expected one that blocks here",
        hint="Pass a Session or a Connection; or use the async form, with await.",
    )


def _article(kind: str) -> str:
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"
