from sqlalchemy import update

import catchment
from library.database import DATABASE_URL, Document

app = catchment.App(DATABASE_URL, queue="library")


@app.command
async def index(ctx: catchment.Context, document_id: int, paragraphs: list[str]) -> int:
    """One child for each paragraph; the task waits for them."""
    ctx.spawn_many(count_words.item(text=text) for text in paragraphs)
    return ctx.result_of_join()


@index.join
async def add_up(ctx: catchment.Context, document_id: int, children: list[catchment.Child[int]]) -> int:
    """The document gets its words in the transaction that completes the task."""
    words = sum(child.result for child in children)
    async with ctx.transaction(sqlalchemy=True) as session:
        await session.execute(update(Document).where(Document.id == document_id).values(words=words))
    return words


@app.command(max_attempts=3)
async def count_words(text: str) -> int:
    return len(text.split())
