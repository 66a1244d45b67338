"""The wheel, built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.package.environment import build


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (made,) = build(tmp_path_factory.mktemp("dist"), "--wheel")
    return made
