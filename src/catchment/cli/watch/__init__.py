"""Commands that stay and show what happens: ``catchment tail``, ``catchment top``, ``catchment task tree --watch``."""
