"""``catchment register``: gathers the verbs. ``catchment`` finds it through its entry point."""

from __future__ import annotations

from catchment.commands import lazy_app

app = lazy_app(
    "register",
    "A statistical business register: units in time, and what is derived from them.",
    {
        "init": (
            "catchment_register.cli.init:init",
            "Install or upgrade the register, and change its settings. Safe to run again, and while workers run.",
        ),
        "load-codes": (
            "catchment_register.cli.load_codes:load_codes",
            "Load a code list: new codes are added, known ones corrected. Rows that cannot be used are left out and"
            " listed.",
        ),
        "generate": (
            "catchment_register.cli.generate:generate",
            "Make up a register of any size, as files to import. The same options and seed make the same files"
            " anywhere.",
        ),
        "import": (
            "catchment_register.cli.import_:import_file",
            "Import a file. Rows that cannot be used are reported with the column to correct; the others are imported.",
        ),
        "demo": (
            "catchment_register.cli.demo:demo",
            "Watch a register come to life: import, derivation, one edit. Leaves nothing behind without a DSN.",
        ),
        "derive": (
            "catchment_register.cli.derive:derive",
            "Ask for what has changed to be derived. Changes ask for it themselves: this is for everything else.",
        ),
        "status": (
            "catchment_register.cli.status:status",
            "Whether something is imported or derived, how far it is, and what waits.",
        ),
        "search": (
            "catchment_register.cli.search:search",
            "Find published units: an identifier exactly first, then names with all the words. Options alone list"
            " units.",
        ),
        "sql": (
            "catchment_register.cli.sql:sql",
            "Run SQL and show what it returns. Without a DSN the embedded server runs meanwhile.",
        ),
        "verify": ("catchment_register.cli.verify:verify", "Check every rule. Ends with 1 if one is broken."),
        "import-job": (
            "catchment_register.cli.import_job:app",
            "Import jobs: look at them, approve or reject them.",
        ),
        "edit": ("catchment_register.cli.edit:app", "Change units of the register."),
        "report": ("catchment_register.cli.report:app", "What the register tells: tables, charts, files."),
    },
)
