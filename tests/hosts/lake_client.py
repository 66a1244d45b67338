"""A client of a lake on a host of its own: reads commands, a line of JSON each, and answers with one.

``python -m tests.hosts.lake_client <dsn> <folder>``; the bucket is in the environment.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from catchment.lake.control.install import install
from catchment.lake.duck.address import LakeAddress
from catchment.lake.duck.duck import Duck
from catchment.lake.settings import LakeSettings
from catchment.lake.tasks.app import commands
from tests.fixtures.lake_case import SETTINGS, LakeCase

KEYS = 2000
URL = "s3://bucket/lake/"
BUCKET = {"s3_key_id", "s3_secret", "s3_region", "s3_endpoint", "s3_url_style", "s3_use_ssl"}


class Client:
    """What the test does with the lake."""

    def __init__(self, dsn: str, folder: Path) -> None:
        import boto3

        given = LakeSettings.read()
        assert given.s3_secret is not None
        self.store = boto3.client(
            "s3",
            endpoint_url=f"http://{given.s3_endpoint}",
            aws_access_key_id=given.s3_key_id,
            aws_secret_access_key=given.s3_secret.get_secret_value(),
            region_name=given.s3_region,
        )
        self.store.create_bucket(Bucket="bucket")
        settings = {name: value for name, value in given.model_dump().items() if name in BUCKET}
        install(dsn, LakeAddress(URL), LakeSettings(**SETTINGS, **settings), commands)
        Duck.open(dsn, LakeSettings(**SETTINGS, **settings))
        self.case = LakeCase(dsn, folder, settings)
        self.case.address = LakeAddress(URL)

    def fill(self) -> None:
        self.case.make("source", "k BIGINT, v BIGINT")
        self.case.sql(f"INSERT INTO source SELECT i % {KEYS}, i FROM range(8000) AS r(i)")
        for name in ("one", "two"):
            self.case.create(
                f"CREATE DYNAMIC TABLE {name} TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL PARALLEL_THRESHOLD = 2"
                " AS SELECT k, max(v) AS m, count(*) AS n FROM source GROUP BY k"
            )
            self.case.refresh(name)
        # Their tasks were carried out here and would be claimed by the first worker.
        self.case.pg("select worker.cancel(id, 'done here') from worker.tasks where command = 'lake_refresh'")

    def change(self) -> None:
        with self.case.commit_lock():
            self.case.sql("UPDATE source SET v = v + 1000000 WHERE k % 2 = 0")
            self.case.sql("DELETE FROM source WHERE k = 7")

    def request(self) -> list[int]:
        """Ask for both tables, each in a round of its own."""
        return [self.case.request(name) for name in ("one", "two")]

    def check(self) -> dict[str, Any]:
        """Both tables equal their definitions; returns the files of the bucket that belong to nothing."""
        for name in ("one", "two"):
            self.case.check(name)
        return self.case.leftovers()

    def publications(self, refresh_id: int) -> int:
        return sum(f'"refresh": {refresh_id},' in note for _, note in self.case.notes())


def main() -> None:
    client = Client(sys.argv[1], Path(sys.argv[2]))
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        call: Callable[..., Any] = getattr(client, name)
        try:
            answer = {"result": call(*arguments)}
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
