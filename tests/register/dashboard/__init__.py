"""The screens of the register."""
