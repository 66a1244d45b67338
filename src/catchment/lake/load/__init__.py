"""Rows of files become rows of a table of the lake, in one commit: which files, what is in them, how they get there."""
