"""Benchmarks of the Python client."""
