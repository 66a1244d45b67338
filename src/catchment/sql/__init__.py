"""The engine itself, as SQL text."""
