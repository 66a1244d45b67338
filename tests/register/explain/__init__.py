"""Why a figure is not up to date."""
