"""A book is built from its pages, and the order of a customer is kept. No framework: psycopg and a script."""

import asyncio
import os

import psycopg

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="books")


@app.command(max_attempts=3)
async def build_page(title: str, n: int) -> int:
    await asyncio.sleep(0.01)  # a call of another service
    return 100 + n


@app.command
async def build_book(ctx: catchment.Context, title: str, pages: int) -> int:
    ctx.spawn_many(build_page.item(title=title, n=n) for n in range(pages))
    ctx.follow_up(ship, title=title)
    return ctx.result_of_join()


@build_book.join
async def bind(ctx: catchment.Context, title: str, children: list[catchment.Child[int]]) -> int:
    words = sum(child.result for child in children)
    async with ctx.transaction() as conn:  # commits with the task
        await conn.execute("insert into books (title, words) values (%s, %s)", [title, words])
    return words


@app.command
def ship(title: str) -> None:
    print(f"{title} is shipped")


async def main() -> None:
    with psycopg.connect(app.dsn) as conn:
        conn.execute("create table if not exists books (title text primary key, words integer)")
    async with app, app.worker():
        tasks = [await build_book.enqueue(title=title, pages=3) for title in ("Notes", "Letters")]
        for task in tasks:
            print(f"task {task.id}: {await task.result(timeout=60)} words")


if __name__ == "__main__":
    asyncio.run(main())
