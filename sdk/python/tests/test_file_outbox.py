"""The outbox in a file."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from activity_rank import Entry, FileOutbox, OutboxError, OutboxLockedError
from activity_rank import file_outbox as module


def entry(id: int, target: str = "a") -> Entry:
    return Entry(id, f'{{"user":"42","target":"{target}"}}')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "activity.outbox"


@pytest.fixture
def outbox(path: Path) -> Iterator[FileOutbox]:
    outbox = FileOutbox(path)
    yield outbox
    outbox.close()


def reopened(outbox: FileOutbox, path: Path) -> list[Entry]:
    """Returns what the next process reads."""
    outbox.close()
    again = FileOutbox(path)
    entries = again.load()
    again.close()
    return entries


def test_entries_survive(outbox: FileOutbox, path: Path) -> None:
    outbox.append([entry(1), entry(2, "é"), entry(3)])
    outbox.remove([2])
    outbox.append([entry(4)])
    assert outbox.load() == [entry(1), entry(3), entry(4)]
    assert reopened(outbox, path) == [entry(1), entry(3), entry(4)]


def test_lines(outbox: FileOutbox, path: Path) -> None:
    outbox.append([entry(1)])
    outbox.remove([1])
    outbox.remove([1])
    assert path.read_text() == '{"id":1,"activity":{"user":"42","target":"a"}}\n{"removed":[1]}\n'


def test_file_is_private(outbox: FileOutbox, path: Path) -> None:
    assert path.stat().st_mode & 0o777 == 0o600


def test_file_of_an_earlier_release_becomes_private(path: Path) -> None:
    path.write_text("")
    path.chmod(0o644)
    FileOutbox(path).close()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("suffix", ["", ".lock"])
def test_symbolic_link_is_refused(path: Path, suffix: str) -> None:
    victim = path.with_name("victim")
    path.with_name(path.name + suffix).symlink_to(victim)
    with pytest.raises(OutboxError, match="is a symbolic link"):
        FileOutbox(path)
    assert not victim.exists()


def test_device_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OutboxError, match="is not a file"):
        FileOutbox(tmp_path / "fifo")


# A user who may write to the folder could have the activities written to any file.
def test_compaction_follows_no_link(outbox: FileOutbox, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_COMPACT_SIZE", 0)
    victim = path.with_name("victim")
    victim.write_text("a file")
    path.with_name(path.name + ".new").symlink_to(victim)
    outbox.append([entry(1), entry(2), entry(3)])
    outbox.remove([1, 2])
    assert victim.read_text() == "a file"
    assert sorted(os.listdir(path.parent)) == ["activity.outbox", "activity.outbox.lock", "victim"]
    assert path.read_text() == '{"id":3,"activity":{"user":"42","target":"a"}}\n'


def test_compacted_file_is_private(outbox: FileOutbox, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_COMPACT_SIZE", 0)
    left = path.with_name(path.name + ".new")
    left.write_text("of a crash")
    left.chmod(0o644)
    outbox.append([entry(1), entry(2), entry(3)])
    outbox.remove([1, 2])
    assert path.stat().st_mode & 0o777 == 0o600
    assert reopened(outbox, path) == [entry(3)]


# As with `uvicorn --workers 2`.
def test_workers_share_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "outboxes"
    program = """
import sys
from activity_rank import Entry, FileOutbox
outbox = FileOutbox.open_folder(sys.argv[1])
outbox.append([Entry(1, '{"user":"' + sys.argv[2] + '"}')])
print("ready", flush=True)
sys.stdin.read()
"""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", program, folder, user], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for user in "abcd"
    ]
    for worker in workers:
        assert worker.stdout
        assert worker.stdout.readline() == "ready\n"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(list(folder.glob("*.outbox"))) == 4
    for worker in workers[:3]:
        worker.communicate(timeout=30)
    # A deployment with fewer workers sends what all have left.
    outbox = FileOutbox.open_folder(folder)
    assert sorted(entry.activity["user"] for entry in outbox.load()) == ["a", "b", "c"]
    assert len({entry.id for entry in outbox.load()}) == 3
    workers[3].communicate(timeout=30)
    outbox.close()
    again = FileOutbox.open_folder(folder)
    assert sorted(entry.activity["user"] for entry in again.load()) == ["a", "b", "c", "d"]
    again.close()
    assert len(list(folder.glob("*.outbox"))) == 4


@pytest.mark.parametrize("length", range(1, 47))
def test_torn_last_line_is_ignored(outbox: FileOutbox, path: Path, length: int) -> None:
    outbox.append([entry(1)])
    whole = path.read_bytes()
    outbox.append([entry(2)])
    outbox.close()
    os.truncate(path, len(whole) + length)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_sync", lambda file: None)
        again = FileOutbox(path)
        assert again.load() == [entry(1)]
        again.append([entry(3)])
    assert reopened(again, path) == [entry(1), entry(3)]


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b"7", b'{"id":1}', b'{"id":"1","activity":{}}', b'{"removed":[5]}', b"\xff"]
)
def test_other_file_is_refused(path: Path, line: bytes) -> None:
    path.write_bytes(b'{"id":1,"activity":{}}\n' + line + b"\n")
    with pytest.raises(OutboxError, match="line 2"):
        FileOutbox(path)
    # The lock is free again, and the file as it was.
    assert path.read_bytes().endswith(line + b"\n")
    path.unlink()
    FileOutbox(path).close()


def test_second_outbox_is_refused(outbox: FileOutbox, path: Path) -> None:
    with pytest.raises(OutboxLockedError):
        FileOutbox(path)
    program = f"from activity_rank import FileOutbox; FileOutbox({str(path)!r})"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert other.returncode == 1
    assert "OutboxLockedError" in other.stderr
    outbox.close()
    FileOutbox(path).close()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_process_keeps_no_lock(outbox: FileOutbox, path: Path) -> None:
    (wait, end), (wait_ready, ready) = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        os.close(end)
        os.write(ready, b"1")
        os.read(wait, 1)
        os._exit(0)
    try:
        os.read(wait_ready, 1)
        with pytest.raises(OutboxLockedError):
            FileOutbox(path)
        outbox.append([entry(1)])
        assert reopened(outbox, path) == [entry(1)]
    finally:
        for file in (end, wait, wait_ready, ready):
            os.close(file)
        os.waitpid(child, 0)


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileOutbox(tmp_path / "none" / "activity.outbox")


def test_closed_outbox_refuses_entries(outbox: FileOutbox) -> None:
    outbox.close()
    outbox.close()
    with pytest.raises(OutboxError, match="closed"):
        outbox.append([entry(1)])


def test_file_is_compacted(outbox: FileOutbox, path: Path) -> None:
    kept = entry(100_000, "kept")
    outbox.append([kept])
    largest = 0
    for first in range(1, 40_000, 500):
        outbox.append([entry(id) for id in range(first, first + 500)])
        largest = max(largest, path.stat().st_size)
        outbox.remove(range(first, first + 500))
    assert largest < 2 << 20
    assert path.stat().st_size < 1 << 20
    assert sorted(os.listdir(path.parent)) == ["activity.outbox", "activity.outbox.lock"]
    assert reopened(outbox, path) == [kept]


def test_failed_compaction_keeps_the_file(outbox: FileOutbox, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left")

    monkeypatch.setattr(Path, "replace", fail)
    for first in range(1, 30_000, 500):
        outbox.append([entry(id) for id in range(first, first + 500)])
        outbox.remove(range(first, first + 499))
    assert len(outbox.load()) == 60
    assert reopened(outbox, path) == [entry(id) for id in range(500, 30_001, 500)]


def test_full_disk_leaves_no_part_of_a_line(
    outbox: FileOutbox, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox.append([entry(1)])
    write = os.write

    def write_some(file: int, data: bytes) -> int:
        if len(data) < 20:
            raise OSError(errno.ENOSPC, "No space left")
        return write(file, data[:15])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write_some)
        with pytest.raises(OutboxError, match="No space left"):
            outbox.append([entry(2)])
    outbox.append([entry(3)])
    assert reopened(outbox, path) == [entry(1), entry(3)]


def test_failed_sync_is_final(outbox: FileOutbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(module, "_sync", fail)
        with pytest.raises(OutboxError, match="Input/output error"):
            outbox.append([entry(1)])
    with pytest.raises(OutboxError, match="Input/output error"):
        outbox.append([entry(2)])
    assert outbox.load() == []


def test_append_waits_for_the_disk(outbox: FileOutbox, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    monkeypatch.setattr(module, "_sync", lambda file: sizes.append(os.fstat(file).st_size))
    outbox.append([entry(1), entry(2)])
    assert sizes == [path.stat().st_size]
