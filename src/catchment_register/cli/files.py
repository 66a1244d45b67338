"""Files that the command line names, judged before anything is created."""

from __future__ import annotations

import os
from pathlib import Path

from catchment_register.errors import FileRefused, refuse


def check_input(file: Path) -> None:
    """Raise ``FileRefused`` if there is no such file."""
    try:
        file.stat()
    except OSError as error:
        reason = error.strerror or str(error)
        raise refuse(file, reason, "Give the path of a CSV or an Excel file.") from None
    if file.is_dir():
        raise refuse(file, "it is a folder", "Import its files one by one.")


def check_output(file: Path, option: str) -> None:
    """Raise ``FileRefused`` if the file of an option cannot be written where it is."""
    obstacle = _obstacle(file)
    if obstacle is not None:
        raise FileRefused(
            f"{file} cannot be written: {obstacle}", hint=f"Give {option} a file in a folder that you can write to."
        )


def _obstacle(file: Path) -> str | None:
    # os.path: pathlib raises an error for what is in a folder that we may not enter.
    if os.path.isdir(file):
        return "it is a folder"
    if os.path.exists(file):
        return None if os.access(file, os.W_OK) else "permission denied"
    if not os.path.isdir(file.parent):
        return f"there is no folder {file.parent}"
    return None if os.access(file.parent, os.W_OK | os.X_OK) else f"permission denied in the folder {file.parent}"
