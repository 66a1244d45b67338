"""Runs every command of the command line, in every width."""
