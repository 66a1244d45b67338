"""The schema ``register``: what it is made of, and how it is installed and upgraded.

Nothing is derived here: if the rules of derivation changed, a full round is requested, and a worker does it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier

import catchment
from catchment.schema import Schema, Upgrade
from catchment_register.errors import BY_SQLSTATE, RegisterMismatch

REGISTER = Schema(
    name="register",
    package="catchment_register.sql",
    owner="register_owner",
    # Handlers and triggers run as the owner, and make tasks. Editors may also read.
    roles={"register_owner": ["catchment_worker"], "register_edit": ["register_read"], "register_read": []},
    release=catchment.__version__,
    title="the register",
    command="catchment register init",
    errors=BY_SQLSTATE,
    mismatch=RegisterMismatch,
)

# Raised with every change of what is derived from the same base data.
DERIVATION = 2


@dataclass(frozen=True, slots=True)
class RegisterUpgrade(Upgrade):
    """What ``migrate`` did, and whether it requested a full round."""

    requests_full_round: bool = False


def migrate(
    conn: Connection[Any], *, on_step: Callable[[str], None] | None = None, roles: bool | None = None
) -> RegisterUpgrade:
    """Upgrade the engine and the register. Safe to run repeatedly, and by several processes at once.

    What a newer version wrote is not changed; ``RegisterMismatch`` is raised if this one cannot work with it. ``roles``
    is as for ``catchment.migrate``.
    """
    engine = catchment.migrate(conn, on_step=on_step, roles=roles)
    lost = engine.has_roles and not _has_rights(conn)
    upgrade = REGISTER.migrate(conn, on_step=on_step, again=lost, roles=roles)
    return RegisterUpgrade(
        upgrade.applied,
        upgrade.routines_changed,
        upgrade.newer,
        upgrade.owner,
        upgrade.has_roles,
        _ask_for_round(conn, upgrade.owner),
    )


def check_version(conn: Connection[Any]) -> None:
    """Raise ``RegisterMismatch`` unless this code can work with the register in the database."""
    REGISTER.check_version(conn)


def _has_rights(conn: Connection[Any]) -> bool:
    """Whether the engine's roles may use what was added to its schema: an upgrade of the engine takes that back."""
    row = conn.execute(
        "select has_function_privilege('catchment_worker', to_regprocedure(%s), 'execute')",
        ["worker.enqueue_collect_changes(text)"],
    ).fetchone()
    return row is not None and row[0] is True


def _ask_for_round(conn: Connection[Any], owner: str) -> bool:
    """Ask for a full round if the rules of derivation changed since the last upgrade; returns whether they did."""
    with conn.transaction():
        conn.execute(SQL("set local role {}").format(Identifier(owner)))
        ((before,),) = conn.execute("select derivation from register.version").fetchall()
        if before is not None and before >= DERIVATION:
            return False
        noted = conn.execute(
            "update register.version set derivation = %s where derivation is not distinct from %s", [DERIVATION, before]
        )
        if before is None or noted.rowcount == 0:  # new, or another session was first
            return False
        conn.execute("select worker.enqueue_collect_changes('all')")
        return True
