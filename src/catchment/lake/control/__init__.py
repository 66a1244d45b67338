"""The control schema ``lake`` in PostgreSQL: typed calls of its functions, and its installation.

The functions themselves are in ``sql``. No other package writes the control tables.
"""
