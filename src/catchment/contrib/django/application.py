"""The app of a Django project: ``from catchment.contrib.django import app``."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import django
from django.apps import apps
from django.core.exceptions import SynchronousOnlyOperation
from django.utils.module_loading import autodiscover_modules

from catchment.client.app import App
from catchment.client.imports import Imports
from catchment.client.sync_verbs import AppSyncVerbs
from catchment.contrib.django.connections import DjangoConnections
from catchment.contrib.django.handlers import around_handlers, with_connections
from catchment.contrib.django.migrate import hint_of
from catchment.contrib.django.settings import read_settings
from catchment.errors import RequestRefused, SchemaMismatch
from catchment.model.task import TaskId
from catchment.store.enqueue import Batch
from catchment.store.foreign.types import OWN
from catchment.task.surroundings import Surroundings
from catchment.task.task_options import TaskOptions
from catchment.task.verbs import AnyCommand

MODULE = "tasks"


class DjangoApp(App):
    """The commands of a Django project. It is an ``App``, with these differences:

    - Its database, its queue and the size of its pool are those of ``CATCHMENT`` in the settings.
    - ``command.sync.enqueue`` makes the task on Django's connection: inside ``atomic()`` it is part of that block.
    - Workers import the module ``tasks`` of each app in ``INSTALLED_APPS``.
    - Stale connections of Django are closed around handlers.
    """

    def __init__(self) -> None:
        given = read_settings()
        self._set_up(
            DjangoConnections(given.pool_size),
            given.queue,
            TaskModules(()),
            sync_verbs=DjangoSyncVerbs,
            surroundings=Surroundings(with_connections, set_up="django:setup"),
        )
        self.middleware(around_handlers)


class TaskModules(Imports):
    """The modules ``tasks`` of the apps of the project."""

    def load(self) -> None:
        autodiscover_modules(MODULE)


class DjangoSyncVerbs(AppSyncVerbs):
    """Makes tasks on Django's connection, unless the caller gives another."""

    def make(self, command: AnyCommand, payload: str, options: TaskOptions) -> TaskId:
        with _said_for_django():
            return super().make(command, payload, _in_django(options))

    def send(self, command: AnyCommand, batches: Iterator[Batch], options: TaskOptions) -> list[TaskId]:
        with _said_for_django():
            return super().send(command, batches, _in_django(options))


def _in_django(options: TaskOptions) -> TaskOptions:
    return options.using(conn=read_settings().database) if options.conn is OWN else options


@contextmanager
def _said_for_django() -> Generator[None]:
    try:
        yield
    except SynchronousOnlyOperation as error:
        raise RequestRefused(
            "a task is made by sync in async code, where Django's connection cannot be used",
            hint="Use: await command.enqueue(…), which commits at once. Or call a function by sync_to_async: inside of"
            " atomic(), its tasks are part of that.",
        ) from error
    except SchemaMismatch as error:
        raise SchemaMismatch(str(error), hint=hint_of(error)) from error


# In a program that is not manage.py, such as catchment worker --app shop.tasks.
if not (apps.ready or apps.loading):
    django.setup()
app = DjangoApp()
