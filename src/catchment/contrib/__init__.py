"""Catchment in the frameworks that applications are written with. Each part needs its framework, and imports it."""
