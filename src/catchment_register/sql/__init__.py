"""The register itself: tables, functions, views, triggers. ``schema.loader`` finds the text."""
