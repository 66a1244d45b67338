"""What the register tells: figures from its derived tables, as charts in a terminal and as pictures."""
