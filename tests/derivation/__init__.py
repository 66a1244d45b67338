"""The rules of derivation, held against the register and against dynamic tables."""
