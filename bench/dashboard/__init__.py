"""How long pages of the dashboard take on a large database."""
