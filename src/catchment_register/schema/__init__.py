"""Installing and upgrading the schema ``register``."""
