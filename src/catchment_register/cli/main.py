"""``catchment register``: gathers the verbs. ``catchment`` finds it through its entry point."""

from __future__ import annotations

from catchment.commands import lazy_app

app = lazy_app(
    "register",
    "Keep a statistical business register.\n\nStores units with their history, and derives statistics from them.",
    {
        "init": (
            "catchment_register.cli.init:init",
            "Install or upgrade the register, and change its settings.",
        ),
        "load-codes": (
            "catchment_register.cli.load_codes:load_codes",
            "Load a code list from a file.",
        ),
        "generate": (
            "catchment_register.cli.generate:generate",
            "Generate an artificial register of any size, as files to import.",
        ),
        "import": (
            "catchment_register.cli.import_:import_file",
            "Import a file of units, statistics or relationships.",
        ),
        "demo": (
            "catchment_register.cli.demo:demo",
            "Watch a small register being imported, derived and edited.",
        ),
        "derive": (
            "catchment_register.cli.derive:derive",
            "Derive what has changed.",
        ),
        "status": (
            "catchment_register.cli.status:status",
            "Show running imports and derivations, and what is waiting.",
        ),
        "why": (
            "catchment_register.cli.why:why",
            "Explain why a figure is not up to date yet.",
        ),
        "search": (
            "catchment_register.cli.search:search",
            "Find published units by identifier or name.",
        ),
        "sql": (
            "catchment_register.cli.sql:sql",
            "Run SQL and show the result.",
        ),
        "verify": ("catchment_register.cli.verify:verify", "Check every rule of the register."),
        "import-job": (
            "catchment_register.cli.import_job:app",
            "List import jobs, approve or reject them.",
        ),
        "edit": ("catchment_register.cli.edit:app", "Change units of the register."),
        "report": ("catchment_register.cli.report:app", "Show the published figures as tables, charts or files."),
    },
)
