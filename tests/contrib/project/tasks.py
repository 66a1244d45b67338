from __future__ import annotations

import os
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connection
from django_tasks import TaskContext, task

import catchment
from catchment.contrib.django import app
from tests.contrib.project.models import Note


@app.command
def write(text: str, then: str = "") -> int:
    note = Note.objects.create(text=text)
    if then == "twice":
        Note.objects.create(text=text)
    if then == "fail":
        raise ValueError("after it has written")
    return note.pk


@app.command
async def read(text: str) -> int:
    return (await Note.objects.aget(text=text)).pk


@app.command
async def write_twice(text: str) -> None:
    await Note.objects.acreate(text=text)
    await Note.objects.acreate(text=text)


def _backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("select pg_backend_pid()")
        return cursor.fetchone()[0]


@app.command
def backend() -> int:
    return _backend()


@app.command
async def async_backend() -> int:
    return await sync_to_async(_backend)()


@app.command(executor="process")
def count_in_process(text: str) -> list[int]:
    return [os.getpid(), Note.objects.filter(text=text).count()]


@app.command
def write_together(ctx: catchment.Context, text: str) -> None:
    with ctx.transaction() as conn:
        conn.execute("insert into project_note (text) values (%s)", [text])


@task
def double(n: int, *, plus: int = 0) -> dict[str, Any]:
    """Twice a number."""
    return {"doubled": 2 * n + plus}


@task
async def adouble(n: int) -> int:
    return 2 * n


@task(priority=50, queue_name="reports")
def report() -> None: ...


@task(takes_context=True, max_attempts=3)
def try_thrice(context: TaskContext) -> int:
    if context.attempt < 3:
        raise LookupError(f"attempt {context.attempt}")
    return context.attempt


@task
def give_object() -> object:
    return object()
