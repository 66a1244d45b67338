from datetime import date

from django.core.mail import send_mail
from django.db.models import Sum
from django.utils import timezone
from django_tasks import task  # from django.tasks import task, in Django 6

from catchment import Child, Context
from catchment.contrib.django import app

from .models import Order


@app.command(max_attempts=5)
def send_receipt(order_id: int) -> None:
    """A command: a plain function with the ORM. It is tried again if the mail server is down."""
    order = Order.objects.get(pk=order_id)
    send_mail("Your order", f"{order.title}: {order.cents / 100:.2f}", "shop@example.org", [order.email])
    order.receipt_sent_at = timezone.now()
    order.save(update_fields=["receipt_sent_at"])


@app.command
def report_year(ctx: Context, year: int) -> int:
    """A scope: it waits for its twelve children, and its join adds them up."""
    ctx.spawn_many(report_month.item(month=date(year, month, 1)) for month in range(1, 13))
    return ctx.result_of_join()


@report_year.join
def add_months(children: list[Child[int]]) -> int:
    return sum(child.result for child in children)


@app.command
def report_month(month: date) -> int:
    placed = Order.objects.filter(placed_at__year=month.year, placed_at__month=month.month)
    return placed.aggregate(cents=Sum("cents"))["cents"] or 0


@task
def thank(email: str) -> str:
    """A task of Django's framework, on the same workers."""
    send_mail("Thank you", "Come back soon.", "shop@example.org", [email])
    return email
