"""Typed calls to the engine's functions; connections; install and upgrade."""
