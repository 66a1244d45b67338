"""Record the demo as an animated SVG, docs/images/demo.svg.

python docs/record_demo.py

The demo runs in a terminal, an emulator keeps what it shows, and every change is a frame. The frames are one strip that
CSS moves; rows that are shown again are drawn once. Long pauses are cut.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

import pyte

TARGET = Path(__file__).parent / "images" / "demo.svg"
COMMAND = [str(Path(sys.executable).with_name("catchment")), "demo", "--no-dashboard", "--stay", "0"]
COLUMNS, ROWS = 100, 16
CELL, LINE, EDGE = 8.43, 18, 14
LONGEST_PAUSE, LAST_FRAME = 0.6, 6.0
COLOURS = {
    "default": "#d7dce5",
    "black": "#5c6370",
    "red": "#ff7b7b",
    "green": "#7bd88f",
    "brown": "#e6c07b",
    "blue": "#7d9bff",
    "magenta": "#d19aff",
    "cyan": "#6fd3e0",
    "white": "#ffffff",
}

Run = tuple[str, str, bool]
Row = tuple[Run, ...]
Frame = tuple[Row, ...]


def read_row(screen: pyte.Screen, number: int) -> Row:
    """A row as runs of equal style, without the spaces at its end."""
    cells = [screen.buffer[number][column] for column in range(COLUMNS)]
    runs = groupby(cells, key=lambda cell: (cell.fg, cell.bold))
    row = [("".join(cell.data for cell in group), fg, bold) for (fg, bold), group in runs]
    while row and not row[-1][0].strip():
        row.pop()
    return tuple(row)


def record() -> list[tuple[float, Frame]]:
    """Every frame with the second at which it came."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(COLUMNS), LINES=str(ROWS))
        os.execv(COMMAND[0], COMMAND)  # noqa: S606 - our own program
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    frames: list[tuple[float, Frame]] = []
    began = time.monotonic()
    while True:
        if select.select([terminal], [], [], 1)[0]:
            try:
                said = os.read(terminal, 65536)
            except OSError:  # the program has ended
                said = b""
            if not said:
                break
            stream.feed(said)
            frame = tuple(read_row(screen, number) for number in range(ROWS))
            now = time.monotonic() - began
            if frames and now - frames[-1][0] < 0.1:
                frames[-1] = (frames[-1][0], frame)
            elif not frames or frames[-1][1] != frame:
                frames.append((now, frame))
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        raise SystemExit("the demo failed")
    return frames


def shorten(frames: list[tuple[float, Frame]]) -> list[tuple[float, Frame]]:
    """The frames with the time each is shown."""
    ends = [moment for moment, _ in frames[1:]] + [frames[-1][0] + LAST_FRAME]
    last = len(frames) - 1
    return [
        (end - moment if place == last else min(end - moment, LONGEST_PAUSE), frame)
        for place, ((moment, frame), end) in enumerate(zip(frames, ends, strict=True))
    ]


def draw(frames: list[tuple[float, Frame]]) -> str:
    width, height = COLUMNS * CELL + 2 * EDGE, ROWS * LINE + 2 * EDGE
    rows = {row: number for number, row in enumerate(dict.fromkeys(row for _, frame in frames for row in frame if row))}
    whole = sum(seconds for seconds, _ in frames)
    steps, at = [], 0.0
    for place, (seconds, _) in enumerate(frames):
        steps.append(f"{100 * at / whole:.3f}% {{ transform: translateY({-place * height}px) }}")
        at += seconds
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" role="img" aria-label="The demo in a terminal">',
        "<style>text { font: 14px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; } "
        f".b {{ font-weight: 600; }} .s {{ animation: s {whole:.1f}s steps(1, end) infinite; }} "
        f"@keyframes s {{ {' '.join(steps)} }}</style>",
        f'<rect width="{width:.0f}" height="{height}" rx="10" fill="#161a22"/><defs>',
    ]
    for row, number in rows.items():
        spans, column = [], 0
        for text, colour, bold in row:
            if text.strip():
                fill = COLOURS.get(colour.removeprefix("bright"), f"#{colour}")  # others are hexadecimal
                kind = ' class="b"' if bold else ""
                spans.append(f'<tspan x="{column * CELL:.1f}" fill="{fill}"{kind}>{escape(text)}</tspan>')
            column += len(text)
        parts.append(f'<text id="r{number}">{"".join(spans)}</text>')
    parts.append(f'</defs><svg x="{EDGE}" y="0" width="{width:.0f}" height="{height}"><g class="s">')
    for place, (_, frame) in enumerate(frames):
        for number, row in enumerate(frame):
            if row:
                y = place * height + EDGE + (number + 0.8) * LINE
                parts.append(f'<use href="#r{rows[row]}" y="{y:.0f}"/>')
    return "\n".join([*parts, "</g></svg></svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(draw(shorten(record())), encoding="utf-8")
