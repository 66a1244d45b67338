"""Plain values and pure decisions; no I/O."""
