"""A few figures as ratios to a bare server in the same run, compared with those that are stored here."""
