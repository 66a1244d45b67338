"""What a handler sees: commands, their payloads, the context, and how errors are reported."""
