"""Django: ``django.db.connection``, ``connections[alias]``, a cursor of either, or the alias itself.

Inside ``transaction.atomic()`` the task is part of that block; outside, Django commits each statement.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

from typing import Any, LiteralString

from django.core.exceptions import ImproperlyConfigured
from django.db import InterfaceError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.transaction import TransactionManagementError
from django.utils.connection import BaseConnectionHandler, ConnectionProxy

from catchment.errors import RequestRefused, shown
from catchment.store.foreign.busy import check_free
from catchment.store.foreign.refuse import refused
from catchment.store.foreign.sender import Rows, Sender, Values, foreign_errors


def of(conn: object) -> Sender:
    """The sender for a connection, or for the alias of one. Django opens it when it is used."""
    given: Any = conn
    if isinstance(conn, str):
        given = _by_alias(conn)
    elif isinstance(conn, ConnectionProxy):
        given = connections[given.alias]
    elif isinstance(conn, CursorWrapper):
        given = given.db
    elif isinstance(conn, BaseConnectionHandler):
        raise refused(conn, "Pass one of them: connections['default'].")
    if not isinstance(given, BaseDatabaseWrapper):
        raise refused(conn, "Pass django.db.connection, connections[alias], or the alias.")
    if given.vendor != "postgresql":
        raise RequestRefused(
            f"conn is the Django connection {given.alias} to {given.vendor}, expected one to PostgreSQL",
            hint="Pass the connection of the database in which Catchment is installed: connections[alias].",
        )
    return DjangoSender(given)


def _by_alias(alias: str) -> Any:
    try:
        aliases: list[str] = list(connections)
    except ImproperlyConfigured as error:
        raise refused(alias, "A text is the alias of a Django connection, and Django is not configured.") from error
    if alias not in aliases:
        raise RequestRefused(
            f"conn is {shown(alias)}, expected a connection or the alias of one: {', '.join(aliases)}",
            hint="An alias is a key of DATABASES in the settings of Django.",
        )
    return connections[alias]


class DjangoSender(Sender):
    """For a ``DatabaseWrapper``."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def rows(self, statement: LiteralString, values: Values = ()) -> Rows:
        check_free(self._conn, self._conn.connection)
        with foreign_errors(self._conn, InterfaceError, TransactionManagementError), self._conn.cursor() as cursor:
            cursor.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else ()

    @property
    def commits_itself(self) -> bool:
        return self._conn.get_autocommit()
