import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel

from catchment import TaskNotFound
from library.database import Document, Transaction, engine
from library.tasks import app, index


@asynccontextmanager
async def lifespan(api: FastAPI) -> AsyncIterator[None]:
    """A worker runs beside the requests, and stops with the server: running handlers finish first."""
    async with app, app.worker():
        yield
    await engine.dispose()


api = FastAPI(lifespan=lifespan)


class NewDocument(BaseModel):
    text: str


class Accepted(BaseModel):
    document: int
    task: int


@api.post("/documents", status_code=202)
async def add_document(new: NewDocument, transaction: Transaction) -> Accepted:
    """The document and its task are committed together."""
    document = Document(text=new.text)
    transaction.add(document)
    await transaction.flush()
    task = await index.using(conn=transaction).enqueue(document.id, new.text.split("\n\n"))
    return Accepted(document=document.id, task=task.id)


@api.get("/documents/{document_id}")
async def show_document(document_id: int, transaction: Transaction) -> dict[str, int | None]:
    document = await transaction.get(Document, document_id)
    if document is None:
        raise HTTPException(404)
    return {"words": document.words}


@api.get("/tasks/{task_id}/result")
async def wait_for_result(task_id: int) -> dict[str, int]:
    """Answers when the task has settled."""
    try:
        return {"words": await index.task(task_id).result(timeout=60)}
    except TaskNotFound as error:
        raise HTTPException(404) from error


@api.get("/tasks/{task_id}/events", response_class=EventSourceResponse)
async def follow(task_id: int) -> AsyncIterable[ServerSentEvent]:
    """Progress while the task runs, then how it ended."""
    while not (info := await index.task(task_id).info()).state.is_settled:
        yield ServerSentEvent(event="progress", data=info.progress)
        await asyncio.sleep(0.5)
    yield ServerSentEvent(event=info.state, data={"words": info.result, "error": info.error})
