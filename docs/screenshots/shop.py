"""The app whose tasks are on the screenshots of the dashboard: ``catchment worker --app shop:app``."""

# ruff: noqa: ARG001 - parameters are for the start form

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

import catchment

RESIZED = 6200
"""Pictures of a catalogue that are resized; the following ones take an hour."""
AN_HOUR = 3600.0
LETTER = "Print a letter and send it by post."

app = catchment.App(queue="shop")
app.queue("shop", concurrency=4)
app.queue("mail", rate=50)
app.queue("export", mode="serial")


@app.command(queue="pictures")
async def build_catalogue(ctx: catchment.Context, season: str, pictures: int) -> None:
    ctx.spawn_many(resize_picture.item(picture=n) for n in range(1, pictures + 1))


@app.command(queue="pictures")
async def resize_picture(ctx: catchment.Context, picture: int) -> None:
    if picture % 311 == 0:
        raise OSError(f"picture {picture} is truncated: 18,304 of 24,112 bytes")
    if picture > RESIZED:
        ctx.progress(picture % 90, 100, "sharpening")
        await asyncio.sleep(AN_HOUR)


@app.command
async def close_month(ctx: catchment.Context, month: str) -> None:
    ctx.spawn_many(load_invoices.item(warehouse=n) for n in range(1, 7))
    ctx.spawn(match_payments, month=month)
    ctx.spawn(recalculate_delivery_estimates_of_every_warehouse_for_the_coming_season)
    ctx.spawn_many(print_report.item(report=name) for name in ("balance", "sales", "returns"))


@app.command(max_attempts=2, retry=catchment.Retry(delay=2))
async def load_invoices(ctx: catchment.Context, warehouse: int) -> int:
    await asyncio.sleep(1.5 * warehouse)
    if warehouse == 3 and ctx.attempt == 1:
        raise ConnectionError("warehouse 3 closed the connection")
    return 100 * warehouse


@app.command
async def match_payments(ctx: catchment.Context, month: str) -> None:
    await asyncio.sleep(3)
    ctx.spawn_many(match_account.item(account=n) for n in range(1, 5))


@app.command
async def match_account(account: int) -> None:
    await asyncio.sleep(1.5 * account)
    if account == 4:
        raise ValueError("account 4 has two payments for invoice 2026-1107")


@app.command
async def recalculate_delivery_estimates_of_every_warehouse_for_the_coming_season() -> None:
    await asyncio.sleep(7)


@app.command
async def print_report(ctx: catchment.Context, report: str) -> None:
    ctx.progress(31, 48, "pages")
    await asyncio.sleep(5 if report == "sales" else AN_HOUR)


@app.command(max_attempts=3, retry=catchment.Retry(delay=1))
async def charge_card(order: int, amount: str) -> None:
    await _ask_gateway(order, amount)


async def _ask_gateway(order: int, amount: str) -> None:
    try:
        _connect("gateway.example", 443)
    except OSError as error:
        raise ConnectionError(f"the payment gateway did not answer for order {order} over {amount}") from error


def _connect(host: str, port: int) -> None:
    raise ConnectionRefusedError(f"{host}:{port} refused the connection")


@app.command(max_attempts=5, retry=catchment.Retry(delay=1800, max_delay=7200))
async def call_partner(partner: str) -> None:
    raise TimeoutError(f"{partner} did not answer in 30 s")


@app.command
async def book_payment(account: str, amount: int) -> None:
    if amount == 0:
        raise ValueError(f"a payment of 0 to {account}")
    await asyncio.sleep(AN_HOUR if amount > 1000 else 0.01)


@app.command(queue="mail", limit=catchment.Limit("customer", max_running=2), description=LETTER)
async def send_letter(
    customer: Annotated[str, Field(description="A customer gets two letters at a time.")],
    subject: str,
    language: Literal["en", "de", "nb"] = "en",
    is_urgent: bool = False,
    copies: Annotated[int, Field(ge=1, le=9)] = 1,
    attachments: list[str] | None = None,
) -> None:
    await asyncio.sleep(AN_HOUR if customer == "acme" else 0.05)


@app.command(queue="mail")
async def send_reminder(order: int) -> None: ...


@app.command(queue="export")
async def export_orders(day: str) -> None: ...


@app.command(queue="archive")
async def archive_year(year: int) -> None: ...


@app.command
async def update_search_index(ctx: catchment.Context) -> int:
    if ctx.task_id % 5 == 0:
        raise TimeoutError("the index was locked for 10 s")
    return 1


def enqueue_all() -> None:
    """Tasks in all states. Needs workers for what should have ended, and none for the queue ``archive``."""
    build_catalogue.sync.enqueue(season="spring", pictures=10_000)
    close_month.sync.enqueue(month="2026-10")
    charge_card.sync.enqueue_many(charge_card.item(order=n, amount=f"{n % 90}.50") for n in (1107, 1112, 1140))
    call_partner.sync.enqueue(partner="harbour")
    for account, amounts in {
        "account-4": [20, 5000, *range(1, 30)],
        "account-17": [70, 0, 12, 30, 8],
        "account-9": [1, 2],
    }.items():
        book_payment.sync.using(lane=account).enqueue_many(
            book_payment.item(account=account, amount=n) for n in amounts
        )
    for customer, letters in {"acme": 7, "globex": 40, "initech": 12}.items():
        send_letter.sync.enqueue_many(
            send_letter.item(customer=customer, subject=f"Invoice {n}") for n in range(letters)
        )
    send_reminder.sync.using(delay=timedelta(hours=2)).enqueue(order=1107)
    export_orders.sync.enqueue_many(export_orders.item(day=f"2026-11-{n:02}") for n in range(1, 18))
    archive_year.sync.enqueue(year=2019)
