from __future__ import annotations

from typing import Any

from django.db import models


class Note(models.Model):
    objects: Any
    text = models.CharField(max_length=100, unique=True)
