"""``catchment dev``: a small process that watches files, and a child with the worker that is replaced on change."""
