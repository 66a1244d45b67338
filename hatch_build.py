"""The long description for the package index: README.md without links that would lead nowhere there.

A relative link needs the address of the repository: ``Repository`` in ``[project.urls]`` of pyproject.toml. With it,
links and images become absolute. Without it, a link is its text, and an image is omitted.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(!?)\[([^\[\]]*)\]\((?!https?://|#)([^()\s]+)\)")
# A paragraph of links alone.
ROW = re.compile(r"^(?:\[[^\[\]]*\]\([^()\s]+\)(?: ·)?\s)+", re.MULTILINE)
SHOWN = (".png", ".svg", ".gif")
CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def describe(readme: str, repository: str | None) -> str:
    """The text of the package index; code blocks stay as they are."""

    def link(found: re.Match[str]) -> str:
        mark, text, target = found.groups()
        if repository is not None:
            kind = "raw" if target.endswith(SHOWN) else "blob"
            return f"{mark}[{text}]({repository.rstrip('/')}/{kind}/main/{target})"
        return "" if mark else text

    def prose(text: str) -> str:
        if repository is None:
            text = ROW.sub("", text)
        text = RELATIVE.sub(link, text)
        if repository is None:
            # Ends of sentences that only point to a page: "…: [how](docs/…)." and "[More](docs/…)."
            text = re.sub(r": how\.|\. More\.", ".", text).replace(" (all figures)", "")
        return re.sub(r"\n{3,}", "\n\n", text)

    return "".join(part if part.startswith("```") else prose(part) for part in CODE.split(readme))


class Description(MetadataHookInterface):
    """Called by hatchling, see ``[tool.hatch.metadata.hooks.custom]``."""

    def update(self, metadata: dict[str, Any]) -> None:
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        metadata["readme"] = {"content-type": "text/markdown", "text": describe(readme, repository)}
