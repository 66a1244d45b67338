"""DuckDB and the catalog of the lake.

Sessions, extensions, errors, what the catalog says about tables and snapshots, and locks on it. Nothing here knows
about dynamic tables or refreshes.
"""
