"""Settings of a worker that cannot be meant are refused by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from catchment.errors import RequestRefused
from catchment.lake.settings import LakeSettings
from catchment.runtime.ray.settings import RaySettings
from catchment.runtime.settings import WorkerSettings, read_options

ROOT = Path(__file__).parents[2]
# Where the names without the prefix are defined, documented and tested.
KNOWN_BARE = {"settings.py", "settings.md", "test_config.py", "use-with-django.md"}
NUMBERS = [n for n, field in WorkerSettings.model_fields.items() if "bool" not in str(field.annotation)]


@pytest.mark.parametrize("value", ["inf", "nan", "1e12", "99999999999999999999", "-1"])
@pytest.mark.parametrize("name", [n for n in NUMBERS if not n.endswith("_host")])
def test_a_number_that_no_timer_or_column_takes_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"CATCHMENT_{name.upper()}", value)
    with pytest.raises(RequestRefused, match=name.upper()):
        read_options()


@pytest.mark.parametrize("value", ["{", "[]", "1"])
def test_a_runtime_environment_is_an_object(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CATCHMENT_RAY_RUNTIME_ENV", value)
    with pytest.raises(RequestRefused, match=r"CATCHMENT_RAY_RUNTIME_ENV.*expected a JSON object"):
        RaySettings.read()


@pytest.mark.parametrize("value", ["0", "0.99", "-5", "nan", "2000000", "soon"])
@pytest.mark.parametrize("name", ["CONNECT", "START", "SILENCE"])
def test_a_limit_of_ray_is_a_second_or_more(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"CATCHMENT_RAY_{name}_SECONDS", value)
    with pytest.raises(RequestRefused) as caught:
        RaySettings.read()
    assert f"CATCHMENT_RAY_{name}_SECONDS in the environment is invalid: it is '{value}'" in str(caught.value)
    assert "Change it, or unset it: its default is" in str(caught.value.hint)


def test_settings_are_written_with_their_prefix() -> None:
    """Those without it would be ignored."""
    fields = [field.upper() for kind in (WorkerSettings, LakeSettings) for field in kind.model_fields]
    bare = re.compile(rf"(?<!\w)(?:{'|'.join(fields)})(?!\w)")
    texts = {
        path.relative_to(ROOT): path.read_text("utf-8")
        for place in ("src", "tests", "docs", "bench")
        for path in (ROOT / place).rglob("*")
        if path.suffix in (".py", ".md", ".sql", ".html") and path.name not in KNOWN_BARE
    }
    assert {str(path): names for path, text in texts.items() if (names := bare.findall(text))} == {}
