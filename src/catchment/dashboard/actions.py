"""Runs an action: by whom it may be, in one transaction with its row of the audit table, and what is said about it."""

from __future__ import annotations

import logging

from psycopg.types.json import Jsonb

from catchment.dashboard.auth.user import User
from catchment.dashboard.database import Actor, Database
from catchment.dashboard.errors import Problem, problem_of
from catchment.dashboard.screen import AnyAction, Done, Query

logger = logging.getLogger("catchment.dashboard")

_AUDIT = """
select worker.write_audit(%(actor)s::text, %(role)s::text, %(action)s::text, %(subject)s::text, %(request)s::jsonb,
                          %(result)s::text, %(detail)s::text)
"""


async def run_action(database: Database, action: AnyAction, user: User, body: Query) -> Done:
    """Do it, and write who did what with which result. Raises ``Problem``, which is written too."""
    try:
        if not user.may_act:
            raise Problem(
                403,
                f"{action.verb(body)}: this is for operators, and {user.name} is a viewer",
                "Log in as an operator.",
            )
        async with database.acting(user) as actor:
            done = await action.run(actor, body)
            await _write(actor, action, user, body, "done", done.message)
    except Exception as error:
        problem = problem_of(error)
        if problem.status == 500:
            logger.exception("action %s of %s failed", action.name, user.name)
        await _write_refusal(database, action, user, body, problem)
        raise problem from error
    logger.info("%s: %s of %s: %s", user.name, action.name, action.subject(body), done.message)
    return done


async def _write(actor: Actor, action: AnyAction, user: User, body: Query, result: str, detail: str) -> None:
    await actor.rows(
        _AUDIT,
        actor=user.name,
        role=user.role,
        action=action.name,
        subject=action.subject(body),
        request=Jsonb(body.model_dump(mode="json")),
        result=result,
        detail=detail,
    )


async def _write_refusal(database: Database, action: AnyAction, user: User, body: Query, problem: Problem) -> None:
    """Written in a separate transaction, since that of the action is rolled back. If that fails, the log has it."""
    result = "failed" if problem.status >= 500 else "refused"
    logger.warning("%s: %s of %s %s: %s", user.name, action.name, action.subject(body), result, problem.message)
    try:
        async with database.acting(user) as actor:
            await _write(actor, action, user, body, result, problem.message)
    except Exception as error:
        logger.warning("the audit table could not be written: %s", str(error).strip())
