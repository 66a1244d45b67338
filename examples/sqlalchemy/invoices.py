"""Invoices with SQLAlchemy: a session makes the task, and a session of the handler commits with it."""

import os
import sys
from datetime import UTC, datetime

from sqlalchemy import ForeignKey, create_engine, make_url, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

import catchment

DATABASE_URL = os.environ.get("DATABASE_URL", "postgresql://localhost/invoices")
engine = create_engine(make_url(DATABASE_URL).set(drivername="postgresql+psycopg"))
app = catchment.App(DATABASE_URL, queue="invoices")


class Base(DeclarativeBase): ...


class Invoice(Base):
    __tablename__ = "invoices"

    id: Mapped[int] = mapped_column(primary_key=True)
    customer: Mapped[str]
    billed_at: Mapped[datetime | None] = mapped_column(default=None)
    lines: Mapped[list["Line"]] = relationship(back_populates="invoice")


class Line(Base):
    __tablename__ = "lines"

    id: Mapped[int] = mapped_column(primary_key=True)
    invoice_id: Mapped[int] = mapped_column(ForeignKey("invoices.id"))
    cents: Mapped[int]
    invoice: Mapped[Invoice] = relationship(back_populates="lines")


@app.command(max_attempts=3)
def bill(ctx: catchment.Context, invoice_id: int) -> int:
    """What the session writes, and the end of the task, are committed together."""
    with ctx.transaction(sqlalchemy=True) as session:
        invoice = session.get_one(Invoice, invoice_id)
        invoice.billed_at = datetime.now(UTC).replace(tzinfo=None)
        return sum(line.cents for line in invoice.lines)


def order(customer: str, *cents: int) -> catchment.SyncTask[int]:
    """The invoice and its task are committed together."""
    with Session(engine) as session, session.begin():
        invoice = Invoice(customer=customer, lines=[Line(cents=one) for one in cents])
        session.add(invoice)
        session.flush()  # gives it its id
        return bill.sync.using(conn=session).enqueue(invoice_id=invoice.id)


def main() -> None:
    Base.metadata.create_all(engine)
    task = order(*sys.argv[1:2], *map(int, sys.argv[2:]))
    print(f"task {task.id}: {task.result(timeout=60)} cents")
    with Session(engine) as session:
        billed = session.scalars(select(Invoice.customer).where(Invoice.billed_at.is_not(None)))
        print("billed:", ", ".join(sorted(billed)))
    engine.dispose()


if __name__ == "__main__":
    main()
