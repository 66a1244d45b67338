"""Code lists: which there are, how their files read, and how they get into the database."""
