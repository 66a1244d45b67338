"""Why a dynamic table is late."""
