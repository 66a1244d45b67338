"""The ``catchment`` command: one file per group of commands."""
