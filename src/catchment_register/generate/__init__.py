"""A made-up register of any size, the same for the same seed: files that ``catchment register import`` reads."""
