from __future__ import annotations

import os
from typing import Any

SECRET_KEY = "for tests"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = ["django_tasks", "catchment.contrib.django", "tests.contrib.project"]
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": os.environ["PGDATABASE"],
        "USER": os.environ["PGUSER"],
        "HOST": os.environ["PGHOST"],
        "PORT": os.environ.get("PGPORT", ""),
        # Connections are kept, so that one can be stale.
        "CONN_MAX_AGE": None,
    }
}
TASKS = {
    "default": {
        "BACKEND": "catchment.contrib.django.TasksBackend",
        "QUEUES": ["default", "reports"],
        "OPTIONS": {"max_attempts": 2},
    }
}
CATCHMENT: dict[str, Any] = {"WORKER_THREADS": 1}
