"""The worker process: one part, one file. A dispatcher of SQL handlers today."""
