"""A process is forked while one of its threads has a lock: neither the child nor the parent waits for the other."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from catchment.store import folder_locks
from catchment.store.process_lock import ProcessLock


def _forked(act: Callable[[], object]) -> int:
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def _in_thread(lock: AbstractContextManager[object], over: threading.Event) -> threading.Thread:
    """A thread that has the lock, until ``over`` is set."""
    has_it = threading.Event()

    def hold() -> None:
        with lock:
            has_it.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    has_it.wait()
    return thread


def test_a_child_finds_the_lock_of_a_thread_of_its_parent_free() -> None:
    lock, over = ProcessLock(), threading.Event()

    def take() -> None:
        # In a thread: the child must not hang if this fails.
        taking = threading.Thread(target=lambda: lock.held().__enter__(), daemon=True)
        taking.start()
        taking.join(20)
        assert not taking.is_alive()

    holder = _in_thread(lock.held(), over)
    try:
        assert os.waitpid(_forked(take), 0)[1] == 0
    finally:
        over.set()
        holder.join()


def test_a_child_does_not_keep_the_lock_of_a_folder(tmp_path: Path) -> None:
    over = threading.Event()
    reader, writer = os.pipe()
    holder = _in_thread(folder_locks.locked(tmp_path), over)
    child = _forked(lambda: (os.close(writer), os.read(reader, 1)))
    try:
        assert folder_locks.is_held(tmp_path, folder_locks.START)
        over.set()
        holder.join()
        assert not folder_locks.is_held(tmp_path, folder_locks.START)
    finally:
        over.set()
        os.close(writer)
        os.waitpid(child, 0)
        os.close(reader)
