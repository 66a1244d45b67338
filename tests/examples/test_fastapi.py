"""The example for FastAPI: a server, with its worker, and clients over HTTP."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx

from tests.examples.programs import example

TEXT = "\n\n".join(["one two three"] * 20)


def events_of(client: httpx.Client, task: int) -> list[tuple[str, dict[str, object]]]:
    """All events of a stream, which ends by itself."""
    with client.stream("GET", f"/tasks/{task}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        text = "".join(stream.iter_text())
    return [(name, json.loads(data)) for name, data in re.findall(r"event: (\w+)\ndata: (.*)\n", text)]


def test_a_document_is_indexed_beside_the_requests(db: str, tmp_path: Path) -> None:
    with example("fastapi", db, tmp_path) as library:
        library.run("-m", "library.database")
        with library.serve("library.main:api") as client:
            answer = client.post("/documents", json={"text": TEXT})
            assert answer.status_code == 202
            accepted = answer.json()
            # What is answered is committed.
            assert client.get(f"/documents/{accepted['document']}").status_code == 200
            *before, (name, last) = events_of(client, accepted["task"])
            assert {kind for kind, _ in before} <= {"progress"}
            assert (name, last) == ("completed", {"words": 60, "error": None})
            assert client.get(f"/tasks/{accepted['task']}/result").json() == {"words": 60}
            assert client.get(f"/documents/{accepted['document']}").json() == {"words": 60}
            assert client.get("/tasks/999999/result").status_code == 404
            refused = client.post("/documents", json={"text": "\u0000"})
            assert refused.status_code >= 400
        library.stop()
