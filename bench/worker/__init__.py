"""Benchmarks of the Python worker."""
