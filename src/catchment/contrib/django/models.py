"""There are none: the tables are those of the engine. Django sends ``post_migrate`` to apps that have this module."""
