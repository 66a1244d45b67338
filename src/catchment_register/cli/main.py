"""``catchment register``: gathers the verbs. ``catchment`` finds it through its entry point."""

from __future__ import annotations

import typer

from catchment_register.cli import (
    demo,
    derive,
    edit,
    generate,
    import_,
    import_job,
    init,
    load_codes,
    report,
    search,
    status,
    verify,
)

app = typer.Typer(
    name="register",
    help="A statistical business register: units in time, and what is derived from them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("init")(init.init)
app.command("load-codes")(load_codes.load_codes)
app.command("generate")(generate.generate)
app.command("import")(import_.import_file)
app.add_typer(import_job.app)
app.add_typer(edit.app)
app.command("demo")(demo.demo)
app.command("derive")(derive.derive)
app.command("status")(status.status)
app.add_typer(report.app)
app.command("search")(search.search)
app.command("verify")(verify.verify)
