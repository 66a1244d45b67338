"""Derivation in the lake: a dynamic table with sums by group, refreshed in parts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from tests.derivation.shape import Group, Sums
from tests.fixtures.lake_case import LakeCase
from tests.lake.refresh.inline import Parallel, spread


class OnLake:
    """Keys are the groups themselves."""

    groups = (None, "a", "b", "c")

    def __init__(self, case: LakeCase) -> None:
        self._case = case
        self._round: Parallel | None = None

    @classmethod
    def install(cls, case: LakeCase) -> OnLake:
        """In a new lake."""
        case.make("member", "id BIGINT, g VARCHAR, v BIGINT")
        case.create(
            "CREATE DYNAMIC TABLE sums TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL"
            " AS SELECT g, count(*) AS n, sum(v) AS total FROM member GROUP BY g"
        )
        case.refresh("sums")
        return cls(case)

    def put(self, member: int, group: Group, value: int) -> None:
        if self._case.sql("SELECT 1 FROM member WHERE id = ?", [member]):
            self._case.sql("UPDATE member SET g = ?, v = ? WHERE id = ?", [group, value, member])
        else:
            self._case.sql("INSERT INTO member VALUES (?, ?, ?)", [member, group, value])

    def drop(self, member: int) -> None:
        self._case.sql("DELETE FROM member WHERE id = ?", [member])

    def begin(self) -> None:
        self._round = spread(self._case, "sums")

    def parts(self) -> list[frozenset[object]]:
        plan = self._begun.plan
        return [
            frozenset(
                key for (key,) in self._case.sql(f"SELECT k1 FROM '{plan.keys_folder(1)}p={keys.partition}/*.parquet'")
            )
            for keys in self._begun.ranges
        ]

    def keys_of(self, members: Mapping[int, Group]) -> frozenset[object]:
        return frozenset(members.values())

    def compute(self) -> None:
        self._begun.compute_all()

    def publish(self) -> None:
        self._begun.publish()
        assert self._begun.sweep() == 0

    def lose(self) -> None:
        fence = self._case.next_fence()
        order = self._case.control.begin_refresh(self._begun.refresh_id, fence, timedelta(hours=1))
        self._case.control.fail_refresh(order.refresh_id, fence, "QUERY", "broken on purpose")

    def derive(self) -> None:
        self._case.refresh("sums")
        self._case.check("sums")

    def published(self) -> Sums:
        return {group: (count, total) for group, count, total in self._case.rows("sums")}

    def versions(self) -> object:
        return self._case.notes()

    @property
    def _begun(self) -> Parallel:
        assert self._round is not None, "begin a round first"
        return self._round
