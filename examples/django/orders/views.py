import json

from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET, require_POST

from .models import Order
from .tasks import report_year, send_receipt, thank


@require_POST
@transaction.atomic
def place_order(request: HttpRequest) -> JsonResponse:
    """The order and its tasks are committed together, or not at all."""
    order = Order.objects.create(**json.loads(request.body))
    send_receipt.sync.enqueue(order_id=order.pk)
    thank.enqueue(order.email)
    return JsonResponse({"id": order.pk}, status=201)


@require_GET
def show_order(request: HttpRequest, pk: int) -> JsonResponse:
    order = get_object_or_404(Order, pk=pk)
    return JsonResponse({"title": order.title, "receipt_sent_at": order.receipt_sent_at})


@require_POST
async def start_report(request: HttpRequest, year: int) -> JsonResponse:
    """In async code omit ``sync``: the task is committed at once."""
    task = await report_year.enqueue(year=year)
    return JsonResponse({"task": task.id}, status=202)


@require_GET
async def show_report(request: HttpRequest, task_id: int) -> JsonResponse:
    info = await report_year.task(task_id).info()
    return JsonResponse({"state": info.state, "cents": info.result})
