"""The control schema of the lake: tables, functions and views, as SQL."""
