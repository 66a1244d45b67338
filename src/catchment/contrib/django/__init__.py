"""Catchment in a Django project: an app for ``INSTALLED_APPS``, with commands in the ``tasks.py`` of each app::

    # shop/tasks.py
    from catchment.contrib.django import app


    @app.command(max_attempts=3)
    def send_receipt(order_id: int) -> None: ...


    # shop/views.py
    with transaction.atomic():
        order = Order.objects.create(...)
        send_receipt.sync.enqueue(order_id=order.pk)

The database is that of an alias of ``DATABASES``. ``manage.py catchment_worker`` runs the tasks. ``TasksBackend`` is a
backend for ``TASKS``.
"""

from typing import TYPE_CHECKING

from catchment.lazy import lazy_names

if TYPE_CHECKING:
    from catchment.contrib.django.application import app
    from catchment.contrib.django.backend import TasksBackend
else:
    # Django imports this package before its settings are complete.
    __getattr__, __dir__ = lazy_names(__name__, {"TasksBackend": "backend", "app": "application"})

__all__ = ["TasksBackend", "app"]
