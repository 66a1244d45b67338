"""Speed of dynamic tables."""
