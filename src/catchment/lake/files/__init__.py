"""Tables and Parquet files as they are stored: physical tables, files beside them, compaction and removal.

Which rows are in them is decided in ``refresh``.
"""
