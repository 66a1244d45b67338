import os

SECRET_KEY = os.environ.get("SECRET_KEY", "only for development")
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "testserver"]
ROOT_URLCONF = "bookshop.urls"
ASGI_APPLICATION = "bookshop.asgi.application"
USE_TZ = True
TIME_ZONE = "Europe/Oslo"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django_tasks",  # a part of Django from version 6 on
    "catchment.contrib.django",
    "orders",
]

MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": os.environ.get("PGDATABASE", "bookshop"),
        "USER": os.environ.get("PGUSER", "bookshop"),
        "PASSWORD": os.environ.get("PGPASSWORD", ""),
        "HOST": os.environ.get("PGHOST", "127.0.0.1"),
        "PORT": os.environ.get("PGPORT", ""),
    }
}

# Tasks of Django's own framework run on Catchment too.
TASKS = {"default": {"BACKEND": "catchment.contrib.django.TasksBackend"}}

CATCHMENT = {
    "DATABASE": "default",
    "QUEUE": "bookshop",
    "WORKER_THREADS": 8,
}

EMAIL_BACKEND = os.environ.get("EMAIL_BACKEND", "django.core.mail.backends.console.EmailBackend")
EMAIL_FILE_PATH = os.environ.get("EMAIL_FILE_PATH")
