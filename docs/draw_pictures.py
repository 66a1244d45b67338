"""Draw the pictures of the pages, docs/images/*.svg: one style, light and dark.

python docs/draw_pictures.py
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

IMAGES = Path(__file__).parent / "images"
STYLE = """
  svg { --ink: #1f2430; --soft: #667085; --line: #8a94a6; --box: #eef1f8; --blue: #3b5bdb; --green: #2b8a3e;
        --red: #c92a2a; --wait: #c9d1e3; --on: #fff; font: 14px system-ui, Roboto, "DejaVu Sans", sans-serif; }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e6e9f0; --soft: #9aa4b6; --line: #6f7a8d; --box: #232936; --blue: #7d93ff; --green: #51cf66;
          --red: #ff7b7b; --wait: #3d4759; --on: #10131a; } }
  text { fill: var(--ink); } .soft { fill: var(--soft); font-size: 12px; } .bold { font-weight: 600; }
  .box { fill: var(--box); stroke: var(--line); } .way { fill: none; stroke: var(--line); stroke-width: 1.5; }
  .run { fill: var(--blue); } .done { fill: var(--green); } .bad { fill: var(--red); } .wait { fill: var(--wait); }
  .on { fill: var(--on); font-size: 12px; } .tip { fill: var(--line); }
"""


class Picture:
    """An SVG with boxes, bars, arrows and words."""

    def __init__(self, name: str, width: int, height: int, title: str) -> None:
        self._name = name
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{escape(title)}">',
            f"<style>{STYLE}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto-start-reverse"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>',
        ]

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        self._parts.append(f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>')

    def box(self, x: float, y: float, width: float, words: str, below: str = "", height: float = 34) -> None:
        self._parts.append(f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{height}" rx="7"/>')
        middle = y + height / 2 + 5
        self.text(x + width / 2, middle - (8 if below else 0), words, "bold", "middle")
        if below:
            self.text(x + width / 2, middle + 9, below, "soft", "middle")

    def bar(self, x: float, y: float, width: float, kind: str, words: str = "") -> None:
        self._parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="18" rx="4"/>')
        if words:
            self.text(x + width / 2, y + 13, words, "soft" if kind == "wait" else "on", "middle")

    def way(self, path: str, words: str = "", at: tuple[float, float] = (0, 0), anchor: str = "middle") -> None:
        self._parts.append(f'<path class="way" d="{path}" marker-end="url(#tip)"/>')
        if words:
            self.text(*at, words, "soft", anchor)

    def line(self, path: str) -> None:
        self._parts.append(f'<path class="way" d="{path}" stroke-dasharray="3 4"/>')

    def save(self) -> None:
        (IMAGES / f"{self._name}.svg").write_text("\n".join([*self._parts, "</svg>", ""]), encoding="utf-8")


def draw_states() -> None:
    p = Picture("states", 800, 300, "The states of a task")
    p.box(20, 100, 130, "pending", "blocked or ready", 46)
    p.box(230, 100, 130, "processing", "a worker runs it", 46)
    p.box(440, 100, 130, "waiting", "for its children", 46)
    p.box(670, 106, 120, "completed")
    p.box(440, 246, 130, "failed")
    p.box(20, 246, 130, "cancelled")
    p.box(230, 188, 130, "interrupted", "", 30)
    p.way("M150 123H226", "claim", (188, 115))
    p.way("M360 123H436", "has children", (398, 115))
    p.way("M570 123H666", "all settled", (617, 115))
    p.way("M270 146V184", "worker died", (262, 170), "end")
    p.way("M320 188V150", "runs again", (328, 170), "start")
    p.way("M320 100Q510 10 725 102", "handler returned", (520, 48))
    p.way("M360 140Q450 160 468 242", "fails for good", (452, 228), "end")
    p.way("M520 146V242", "a child failed", (528, 200), "start")
    p.way("M50 146V242", "cancel", (58, 200), "start")
    p.way("M260 100Q190 30 100 96", "retry, snooze", (180, 58))
    p.way("M440 268Q220 268 120 150", "retry by hand", (300, 286))
    p.save()


def draw_scope() -> None:
    p = Picture("scope", 760, 250, "A scope over time: the parent settles after its last child")
    rows = [
        (
            "build_book",
            [(150, 50, "run", "handler"), (200, 400, "wait", "waits for its children"), (600, 60, "run", "join")],
        ),
        ("  page 1", [(205, 120, "run", "")]),
        ("  page 2", [(205, 70, "bad", "fails"), (275, 90, "wait", "retry"), (365, 110, "run", "")]),
        ("  page 3", [(230, 180, "run", ""), (410, 185, "wait", "its own children")]),
        ("    figure", [(415, 175, "run", "")]),
        ("ship (follow-up)", [(666, 70, "run", "")]),
    ]
    for place, (name, bars) in enumerate(rows):
        y = 24 + 34 * place
        p.text(8 + 12 * (len(name) - len(name.lstrip())), y + 14, name.strip())
        for x, width, kind, words in bars:
            p.bar(x, y, width, kind, words)
    p.line("M200 12V228")
    p.line("M597 12V228")
    p.line("M661 12V228")
    p.text(200, 244, "children become visible with the commit", "soft")
    p.text(661, 244, "the book settles", "soft", "end")
    p.save()


def draw_lanes() -> None:
    p = Picture("lanes", 760, 176, "Lanes: one task after another in each, lanes beside each other")
    lanes = [("lane ada", [120, 80, 150]), ("lane bob", [60, 200]), ("lane eve", [190, 90, 60]), ("no lane", [])]
    for place, (name, widths) in enumerate(lanes):
        y = 14 + 36 * place
        p.text(8, y + 14, name)
        x = 110.0
        for number, width in enumerate(widths, 1):
            p.bar(x, y, width, "run", f"order {number}")
            x += width + 6
    for x, y, width in ((110, 122, 90), (130, 144, 150), (215, 122, 110), (300, 144, 70), (340, 122, 90)):
        p.bar(x, y, width, "run")
    p.text(450, 150, "at the same time, in any order", "soft")
    p.text(520, 34, "one after another, on any worker", "soft")
    p.save()


def draw_recovery() -> None:
    p = Picture("recovery", 760, 210, "Recovery: a killed worker's task runs again, and its late answer is refused")
    p.text(8, 44, "worker 1")
    p.text(8, 104, "worker 2")
    p.text(8, 164, "database")
    p.bar(110, 30, 190, "run", "task 7, fence 1")
    p.bar(300, 30, 180, "wait", "stopped")
    p.bar(480, 30, 80, "run", "wakes up")
    p.bar(400, 90, 200, "run", "task 7, fence 2")
    p.line("M110 160H740")
    p.way("M110 52V156", "claim", (116, 140), "start")
    p.way("M395 156V112", "declared dead: claimed again", (388, 140), "end")
    p.way("M560 48Q588 60 584 156", "", (0, 0))
    p.way("M600 110V156", "settled, once", (608, 140), "start")
    p.text(570, 44, "late answer: refused", "soft")
    p.text(395, 190, "after the lease, or 500 ms after its lock is free", "soft", "middle")
    p.save()


def draw_refresh() -> None:
    p = Picture("refresh", 760, 250, "A refresh: from changes to one commit")
    p.box(10, 20, 150, "changes", "of the sources", 50)
    p.box(210, 20, 150, "keys", "that they can touch", 50)
    p.box(410, 20, 150, "rows", "of these keys", 50)
    p.box(600, 20, 150, "difference", "to the stored rows", 50)
    for x in (160, 360, 560):
        p.way(f"M{x} 45H{x + 38 if x < 560 else x + 36}")
    p.text(380, 110, "a huge refresh is a scope: one child per bucket of keys, on many workers", "soft", "middle")
    for n in range(4):
        p.box(170 + 110 * n, 126, 90, f"bucket {n + 1}", "", 30)
        p.way(f"M{215 + 110 * n} 156Q{215 + 110 * n} 184 380 196")
    p.box(265, 200, 230, "one commit", "readers see all of it, or nothing", 44)
    p.way("M675 70V222H499", "", (0, 0))
    p.save()


def draw_register() -> None:
    p = Picture("register", 760, 210, "The register: from an edit to every figure")
    p.box(10, 30, 130, "base tables", "edits, imports", 44)
    p.box(180, 30, 130, "change log", "by triggers", 44)
    p.box(350, 30, 150, "units", "batches of enterprises", 44)
    p.box(540, 30, 200, "statistical_unit", "published where it differs", 44)
    p.way("M140 52H176")
    p.way("M310 52H346")
    p.way("M500 52H536")
    p.box(540, 140, 200, "history", "births, deaths, stock", 44)
    p.box(290, 140, 200, "facets", "by region, activity, sector", 44)
    p.box(40, 140, 200, "history facets", "both, over time", 44)
    p.way("M640 74V136", "differences", (648, 110), "start")
    p.way("M540 162H494")
    p.way("M290 162H244")
    p.text(40, 204, "each stage is a follow-up of the one before, with children in parallel", "soft")
    p.save()


if __name__ == "__main__":
    for draw in (draw_states, draw_scope, draw_lanes, draw_recovery, draw_refresh, draw_register):
        draw()
