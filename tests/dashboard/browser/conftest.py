"""The browser ends with the tests of this folder: see the fixtures."""

from tests.fixtures.browser import chromium, page, tab

__all__ = ["chromium", "page", "tab"]
