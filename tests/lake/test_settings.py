"""Settings of the lake: their defaults, where they come from, and what is refused."""

from __future__ import annotations

import tempfile

import pytest

from catchment.errors import RequestRefused
from catchment.lake.settings import LakeSettings, bytes_of
from catchment.runtime.memory import memory_limit


def test_the_defaults_are_those_of_the_reference() -> None:
    found = LakeSettings()
    assert (
        found.parallel_refresh_enabled,
        found.parallel_min_affected_keys,
        found.parallel_max_workers,
        found.parallel_timeout_seconds,
    ) == (True, 10_000_000, 16, 3600)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_PARALLEL_REFRESH_ENABLED", "false")
    monkeypatch.setenv("CATCHMENT_PARALLEL_MIN_AFFECTED_KEYS", "5")
    monkeypatch.setenv("CATCHMENT_LAKE_MEMORY_LIMIT", "1300MB")
    monkeypatch.setenv("CATCHMENT_LAKE_THREADS", "1")
    found = LakeSettings.read()
    assert not found.parallel_refresh_enabled
    assert found.parallel_min_affected_keys == 5
    assert (found.memory_bytes, found.threads) == (1_300_000_000, 1)


def test_without_a_limit_sixty_percent_of_the_memory_are_used() -> None:
    found = LakeSettings()
    assert found.memory_bytes == int(memory_limit() * 0.6)
    assert found.threads >= 1
    assert found.temp_directory == tempfile.gettempdir()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CATCHMENT_PARALLEL_MAX_WORKERS", "0"),
        ("CATCHMENT_LAKE_FULL_ABOVE", "1.5"),
        ("CATCHMENT_LAKE_MEMORY_LIMIT", "much"),
        ("CATCHMENT_LAKE_MEMORY_LIMIT", "0"),
        ("CATCHMENT_LAKE_RAY_MEMORY", "-1GB"),
        ("CATCHMENT_LAKE_RAY_MEMORY", "inf"),
        ("CATCHMENT_LAKE_RAY_MEMORY", "1e30TB"),
        ("CATCHMENT_LAKE_RAY_CPUS", "1001"),
        ("CATCHMENT_LAKE_THREADS", "two"),
        ("CATCHMENT_S3_URL_STYLE", "diagonal"),
    ],
)
def test_a_value_that_cannot_be_read_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(RequestRefused, match=f"{name} in the environment is invalid"):
        LakeSettings.read()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1300MB", 1_300_000_000),
        ("4GiB", 4 * 2**30),
        ("1.5 gb", 1_500_000_000),
        ("100", 100),
        ("7582537728B", 7582537728),
        ("10kib", 10240),
    ],
)
def test_sizes_have_units(text: str, expected: int) -> None:
    assert bytes_of(text) == expected


def test_the_secret_of_a_bucket_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_S3_SECRET", "hush")
    assert "hush" not in repr(LakeSettings.read())
