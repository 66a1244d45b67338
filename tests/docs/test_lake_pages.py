"""The pages about dynamic tables name what there is."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic.fields import FieldInfo

from catchment.lake.settings import LakeSettings

ROOT = Path(__file__).parents[2]
COMPUTED = {"lake_memory_limit": "60 % of memory", "lake_threads": "all cores", "lake_temp_directory": "the system's"}


def test_every_setting_of_the_lake_is_listed_with_its_default_and_no_other() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    table = re.split(r"^## Dynamic tables$", page, flags=re.MULTILINE)[1].split("\n## ")[0]
    listed = dict(re.findall(r"^\| `([A-Z0-9_]+)` \| (.*?) \|", table, re.MULTILINE))
    assert listed == {name.upper(): _default(name, field) for name, field in LakeSettings.model_fields.items()}


def _default(name: str, field: FieldInfo) -> str:
    """As the page writes it."""
    if name in COMPUTED:
        return COMPUTED[name]
    return (
        {None: "none", True: "true", False: "false"}.get(field.default, "") if _is_word(field) else f"{field.default}"
    )


def _is_word(field: FieldInfo) -> bool:
    return field.default is None or isinstance(field.default, bool)
