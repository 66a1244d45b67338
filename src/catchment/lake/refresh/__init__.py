"""One refresh of one table, whole or in parts: read the sources at one moment, compute, publish, audit.

Retries, tasks and their parents are left to ``tasks``; when a refresh is due is decided in the control schema.
"""
