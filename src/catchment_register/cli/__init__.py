"""``catchment register``: one file for each verb."""
