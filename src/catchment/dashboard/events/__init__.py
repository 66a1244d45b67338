"""What is new, as it happens: one LISTEN connection, any number of browsers."""
