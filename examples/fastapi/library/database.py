import asyncio
import os
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

DATABASE_URL = os.environ.get("DATABASE_URL", "postgresql://localhost/library")
engine = create_async_engine(make_url(DATABASE_URL).set(drivername="postgresql+psycopg"))


class Base(DeclarativeBase): ...


class Document(Base):
    __tablename__ = "documents"

    id: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[str]
    words: Mapped[int | None] = mapped_column(default=None)


async def transaction() -> AsyncIterator[AsyncSession]:
    async with AsyncSession(engine) as session, session.begin():
        yield session


# "function" commits before the answer is sent: a client that has an answer finds what it says.
Transaction = Annotated[AsyncSession, Depends(transaction, scope="function")]


async def create_tables() -> None:
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    await engine.dispose()


if __name__ == "__main__":
    asyncio.run(create_tables())
