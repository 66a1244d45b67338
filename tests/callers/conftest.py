from __future__ import annotations

from tests.client.conftest import shop

__all__ = ["shop"]
