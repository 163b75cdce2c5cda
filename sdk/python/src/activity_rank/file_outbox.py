"""An outbox in a file.

Each line is JSON: an accepted activity, `{"id":1,"activity":{…}}`, or the ids of activities that have arrived,
`{"removed":[1,2]}`. Lines are only appended. Once most of the file is of no use any more, it is written anew.
"""

import errno
import json
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Self
from weakref import WeakSet

from .errors import ActivityRankError
from .outbox import Entry

if sys.platform != "win32":
    import fcntl

_COMPACT_SIZE = 1 << 20  # bytes; a smaller file is not worth writing anew


class OutboxError(ActivityRankError):
    """The file of an outbox cannot be read or written."""


class OutboxLockedError(OutboxError):
    """Another process, or another outbox of this process, uses the file."""


class FileOutbox:
    """An outbox in a file that one process at a time may use.

    `append` returns when the data is on the disk (fsync): neither SIGKILL nor a loss of power loses what was accepted.
    A last line that a crash cut off is ignored, because its call has not returned.

    The lock is on a second file, `<path>.lock`, and ends with the process. A process that forks must create its outbox
    after the fork. The file contains activities, and neither keys nor tokens. Needs Linux, macOS or another Unix.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Locks the file, and creates it if there is none. Its folder must exist.

        Raises `OutboxLockedError` if it is in use, `OutboxError` if the path is a symbolic link or not a file, and
        `OSError` if it cannot be opened.
        """
        self._path = Path(path).absolute()
        self._mutex = Lock()
        self._entries: dict[int, Entry] = {}
        self._used = 0  # characters of the entries
        self._failure: str | None = None
        self._lock = _lock(self._path.with_name(self._path.name + ".lock"))
        try:
            self._file = _open_private(self._path)
        except BaseException:
            os.close(self._lock)
            raise
        try:
            _open.add(self)
            _sync_folder(self._path)
            self._size = self._read()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open_folder(cls, path: str | os.PathLike[str]) -> Self:
        """Opens an outbox for one of several processes that share a folder: the first file there that no process uses.

        Creates the folder if there is none. What a process that has not returned left in other files is moved to this
        outbox: if a crash interrupts that, it is sent twice and counts once. Raises `OutboxError` and `OSError`.
        """
        folder = Path(path)
        folder.mkdir(0o700, parents=True, exist_ok=True)
        outbox = next(outbox for number in count(1) if (outbox := cls._open_free(folder / f"{number}.outbox")))
        try:
            for other_path in sorted(folder.glob("*.outbox")):
                other = cls._open_free(other_path)
                if other is None:
                    continue
                try:
                    entries = other.load()
                    first = max(outbox._entries, default=0) + 1
                    outbox.append([Entry(id, entry.text) for id, entry in enumerate(entries, start=first)])
                    other.remove([entry.id for entry in entries])
                finally:
                    other.close()
        except BaseException:
            outbox.close()
            raise
        return outbox

    @classmethod
    def _open_free(cls, path: Path) -> Self | None:
        try:
            return cls(path)
        except OutboxLockedError:
            return None

    def load(self) -> list[Entry]:
        """Returns all entries that were appended and not removed, oldest first."""
        with self._mutex:
            return list(self._entries.values())

    def append(self, entries: Sequence[Entry]) -> None:
        """Stores entries. Returns when they are on the disk.

        Raises `OutboxError` if the disk is full or fails. After a failure of fsync all calls raise it, until the outbox
        is opened again.
        """
        with self._mutex:
            self._write(map(_entry_line, entries))
            try:
                _sync(self._file)
            except OSError as error:
                # The system may have dropped the data, and reports that only once.
                self._failure = f"{self._path}: {error.strerror}"
                raise OutboxError(self._failure) from error
            for entry in entries:
                self._add(entry)

    def remove(self, ids: Sequence[int]) -> None:
        """Removes entries that have arrived. Survives a crash of the process, and mostly of the machine."""
        with self._mutex:
            known = [id for id in ids if id in self._entries]
            if not known:
                return
            for id in known:
                self._used -= len(self._entries.pop(id).text)
            self._write([_line({"removed": known})])
            if self._size >= _COMPACT_SIZE and self._used * 2 < self._size:
                self._compact()

    def close(self) -> None:
        """Closes the file, and releases the lock. Entries stay in the file."""
        with self._mutex:
            self._close()

    def _close(self) -> None:
        if self._lock < 0:
            return
        os.close(self._file)
        os.close(self._lock)
        self._file = self._lock = -1

    def _read(self) -> int:
        """Reads the file, cuts off a torn last line, and returns the size."""
        with open(self._file, "rb", closefd=False) as file:
            data = file.read()
        size = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:size].splitlines(), start=1):
            try:
                self._apply(json.loads(line))
            except (ValueError, TypeError, KeyError) as error:
                # A crash of the process damages no line before the last, so this is another file or a failed disk.
                message = f"{self._path}, line {number}, is not of an outbox. Move the file away."
                raise OutboxError(message) from error
        if size < len(data):
            os.ftruncate(self._file, size)
        return size

    def _apply(self, line: dict[str, object]) -> None:
        """Applies a line of the file to the entries."""
        if "removed" in line:
            removed = line["removed"]
            if not isinstance(removed, list):
                raise TypeError
            for id in removed:
                self._used -= len(self._entries.pop(id).text)
            return
        id, activity = line["id"], line["activity"]
        if not isinstance(id, int) or not isinstance(activity, dict):
            raise TypeError
        self._add(Entry(id, _json(activity)))

    def _add(self, entry: Entry) -> None:
        self._entries[entry.id] = entry
        self._used += len(entry.text)

    def _write(self, lines: Iterable[bytes]) -> None:
        """Appends lines with one call of the system, all or none."""
        if self._lock < 0:
            raise OutboxError(f"{self._path} is closed.")
        if self._failure:
            raise OutboxError(self._failure)
        data = b"".join(lines)
        try:
            _write_all(self._file, data)
        except OSError as error:
            self._undo_write(error)
            raise OutboxError(f"{self._path}: {error.strerror}") from error
        self._size += len(data)

    def _undo_write(self, error: OSError) -> None:
        """Cuts off what a failed write has left. Otherwise the next line would continue it."""
        try:
            os.ftruncate(self._file, self._size)
        except OSError:
            self._failure = f"{self._path}: {error.strerror}"

    def _compact(self) -> None:
        """Writes a file that has only the entries, and puts it in the place of this one."""
        path = self._path.with_name(self._path.name + ".new")
        data = b"".join(map(_entry_line, self._entries.values()))
        try:
            path.unlink(missing_ok=True)
            file = _open_private(path, os.O_EXCL)
        except (OSError, OutboxError):
            # The file is as good as before, only longer.
            return
        try:
            _write_all(file, data)
            _sync(file)
            path.replace(self._path)
        except OSError:
            os.close(file)
            path.unlink(missing_ok=True)
            return
        os.close(self._file)
        self._file, self._size = file, len(data)
        _sync_folder(self._path)


_open: WeakSet[FileOutbox] = WeakSet()


def _close_after_fork() -> None:
    """Closes the files in a forked process. Otherwise the lock would last as long as that process."""
    for outbox in _open:
        # Without the mutex, which a thread may have had that does not exist here.
        outbox._close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_after_fork)


def _open_private(path: Path, flags: int = 0) -> int:
    """Opens or creates a file that its owner alone may read, and returns its descriptor.

    Raises `OutboxError` if the path is a symbolic link or not a file: what it leads to is not the outbox.
    """
    flags |= os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        file = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OutboxError(f"{path} is a symbolic link. Use the path of the file.") from error
        raise
    try:
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            raise OutboxError(f"{path} is not a file. Use another path.")
        if mode & 0o077:
            os.fchmod(file, 0o600)
    except BaseException:
        os.close(file)
        raise
    return file


def _lock(path: Path) -> int:
    """Locks a file, and returns its descriptor. The system releases the lock when the process ends."""
    if sys.platform == "win32":
        raise OutboxError("FileOutbox needs Linux, macOS or another Unix.")
    lock = _open_private(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        message = f"{path} is locked: another process uses the outbox. Give each its own file, as open_folder does."
        raise OutboxLockedError(message) from error
    return lock


def _sync(file: int) -> None:
    """Waits until a file is on the disk."""
    if sys.platform == "darwin":
        # fsync of macOS returns before the disk has written its cache.
        fcntl.fcntl(file, fcntl.F_FULLFSYNC)
    else:
        os.fsync(file)


def _sync_folder(path: Path) -> None:
    """Waits until the name of a new file is on the disk."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _line(value: object) -> bytes:
    return _json(value).encode() + b"\n"


def _entry_line(entry: Entry) -> bytes:
    return f'{{"id":{entry.id},"activity":{entry.text}}}\n'.encode()
