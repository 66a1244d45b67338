"""``catchment register``: gathers the verbs. ``catchment`` finds it through its entry point."""

from __future__ import annotations

import typer

from catchment_register.cli import init, load_codes

app = typer.Typer(
    name="register",
    help="A statistical business register: units in time, and what is derived from them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("init")(init.init)
app.command("load-codes")(load_codes.load_codes)
