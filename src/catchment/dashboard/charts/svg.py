"""The parts that charts share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape


def element(name: str, *children: Markup | str, **attributes: object) -> Markup:
    """An element; everything is escaped. ``class_`` and ``stroke_width`` are written class and stroke-width."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = Markup("").join(child if isinstance(child, Markup) else escape(child) for child in children)
    return Markup(f"<{name}{written}>{inner}</{name}>")  # noqa: S704 - name is ours, the rest escaped


def number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def path(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{'M' if i == 0 else 'L'}{number(x)} {number(y)}" for i, (x, y) in enumerate(points))


def nice_top(value: float) -> float:
    """The round number at or above a value that an axis ends with."""
    if value <= 0:
        return 1.0
    step = 1.0
    while step * 10 <= value:
        step *= 10
    while step > value:
        step /= 10
    return next(step * factor for factor in (1, 2, 5, 10) if step * factor >= value)


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """The figures of a chart for those who do not see it."""
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    body = (element("tr", *(element("td", str(cell)) for cell in row)) for row in rows)
    return element(
        "table", element("caption", caption), element("thead", head), element("tbody", *body), class_="unseen"
    )
