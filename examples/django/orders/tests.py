import json

from django.core import mail
from django.db import transaction
from django.test import TestCase

from catchment.contrib.django.test import drain, run_inline

from .models import Order
from .tasks import report_year, send_receipt

ORDER = {"email": "ada@example.org", "title": "Notes", "cents": 1250}


class OrderTest(TestCase):
    def test_an_order_is_followed_by_a_receipt_and_thanks(self) -> None:
        answer = self.client.post("/orders/", json.dumps(ORDER), content_type="application/json")
        self.assertEqual(drain(), {"completed": 2})
        self.assertEqual({message.subject for message in mail.outbox}, {"Your order", "Thank you"})
        self.assertIsNotNone(self.client.get(f"/orders/{answer.json()['id']}/").json()["receipt_sent_at"])

    def test_an_order_that_is_rolled_back_has_no_receipt(self) -> None:
        with self.assertRaises(ZeroDivisionError), transaction.atomic():
            send_receipt.sync.enqueue(order_id=Order.objects.create(**ORDER).pk)
            raise ZeroDivisionError
        self.assertEqual(drain(), {})

    def test_a_report_adds_up_its_months(self) -> None:
        order = Order.objects.create(**ORDER)
        run = run_inline(report_year, year=order.placed_at.year)
        self.assertEqual((run.result, len(run.children)), (1250, 12))
