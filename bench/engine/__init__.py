"""Benchmarks of the SQL engine: ``python -m bench.engine`` (see docs/performance.md)."""
