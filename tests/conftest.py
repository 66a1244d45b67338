from __future__ import annotations

pytest_plugins = [
    "tests.fixtures.server",
    "tests.fixtures.engine",
    "tests.fixtures.worker",
    "tests.fixtures.restart",
    "tests.fixtures.register",
    "tests.fixtures.lake",
    "tests.fixtures.s3",
]
