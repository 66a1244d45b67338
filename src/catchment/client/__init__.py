"""What a caller sees: define commands, enqueue tasks, wait for results, cancel and look."""
