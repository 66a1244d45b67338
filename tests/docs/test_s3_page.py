"""The page about a lake in a bucket runs as it stands there, against a store on this machine."""

from __future__ import annotations

import pytest

from tests.docs.live import LivePage, live_page
from tests.docs.steps import S3_PAGE, Block, read_blocks
from tests.fixtures.s3 import Bucket

__all__ = ["live_page"]


@pytest.mark.long
def test_the_page_does_what_it_says(live_page: LivePage, bucket: Bucket) -> None:
    bucket.client.create_bucket(Bucket="warehouse")
    endpoint = bucket.settings["s3_endpoint"]
    for block in read_blocks(S3_PAGE.read_text(encoding="utf-8")):
        try:
            live_page.run(Block(block.language, block.line, block.text.replace("localhost:9000", endpoint)))
        except Exception as problem:
            pytest.fail(f"line {block.line}\n{block.text}\n\n{type(problem).__name__}: {problem}", pytrace=False)
    found = bucket.client.list_objects_v2(Bucket="warehouse")["Contents"]
    assert {entry["Key"].split("/")[1].split("-")[0] for entry in found} == {"main", "dt"}
