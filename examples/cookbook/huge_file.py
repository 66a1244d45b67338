"""Import a huge file in chunks, in parallel, and continue after a crash where it stopped.

The first task finds the chunks; each chunk is a child that writes its rows and its own completion in one transaction,
so no row is missing and none is there twice. The join runs when every chunk is in.
"""

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

import catchment

app = catchment.App(os.environ.get("DATABASE_URL"), queue="imports")
CHUNK = 4096  # bytes; in production: megabytes


@app.command(max_attempts=3)
def import_chunk(ctx: catchment.Context, path: str, start: int, end: int) -> int:
    with open(path, "rb") as file:
        file.seek(start)
        rows = [line.decode().strip().split(",") for line in file.read(end - start).splitlines()]
    with ctx.transaction() as conn, conn.cursor().copy("copy measurement (id, value) from stdin") as copy:
        for row in rows:
            copy.write_row(row)
    return len(rows)


@app.command
def import_file(ctx: catchment.Context, path: str) -> int:
    size = Path(path).stat().st_size
    with open(path, "rb") as file:
        start = 0
        while start < size:
            file.seek(min(start + CHUNK, size))
            file.readline()  # a chunk ends with a line
            end = min(file.tell(), size)
            ctx.spawn(import_chunk, path=path, start=start, end=end)
            start = end
    return ctx.result_of_join()


@import_file.join
async def finish(children: list[catchment.Child[int]]) -> int:
    return sum(child.result for child in children)


async def main() -> None:
    with TemporaryDirectory() as folder, psycopg.connect(app.dsn, autocommit=True) as conn:
        path = Path(folder) / "measurements.csv"
        path.write_text("".join(f"{n},{n * n}\n" for n in range(5000)))
        conn.execute("create table if not exists measurement (id integer primary key, value bigint)")
        conn.execute("truncate measurement")
        async with app, app.worker():
            task = await import_file.enqueue(path=str(path))
            print(await task.result(timeout=60), "rows")
        print(*conn.execute("select count(*), max(value) from measurement").fetchone() or ())


if __name__ == "__main__":
    asyncio.run(main())
# prints: 5000 rows
# prints: 5000 24990001
