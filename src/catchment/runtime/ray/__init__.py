"""Runs bodies of tasks on a cluster of Ray. Only the child process (``driver``) imports ray."""
