"""``catchment register why``: why a figure is not up to date yet."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from catchment.commands import Dsn, Json, print_conditions, print_json
from catchment_register.cli.database import open_register
from catchment_register.why import FIGURES, explain


def why(
    of: Annotated[
        str | None,
        typer.Argument(
            metavar="[SUBJECT]",
            help=f"A unit (legal_unit/17, tax_ident:123 or 123), or a figure: {', '.join(FIGURES)}. Defaults to the"
            " register as a whole.",
            show_default=False,
        ),
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Explain why a figure is not up to date yet.

    Lists every cause, with the command that resolves it.
    """
    with open_register(dsn) as conn:
        answer = explain(conn, of)
    if as_json:
        print_json(asdict(answer))
    else:
        print_conditions(answer.headline, answer.conditions)
