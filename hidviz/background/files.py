"""Files: written beside, brought to the disk, then renamed, so that a name never leads to half of anything.

Whatever happens on the way, a full disk, a kill, a power cut, the old file is whole until the new one is. Lines of a
store are appended instead: each in one piece, on the disk before the call returns, and taken back if it did not fit.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # where there are no such locks, two programs should not share a store
    fcntl = None  # type: ignore[assignment]


def write(path: str | Path, content: str | bytes) -> None:
    """Put these bytes, or this text as UTF-8, in the place of a file; its folder is made if need be.

    Raises:
        OSError: there is no room, or the folder cannot be written; what had this name is as it was.
    """
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` when the block ends, and vanishes if the block fails.

    Raises:
        OSError: as of `write`.
    """
    final = _place(path)
    beside = _beside(final)
    try:
        with _opened(beside) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(final)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(final.parent)


def append_line(path: str | Path, line: str) -> None:
    """Add a line to a file, whole and on the disk, or not at all; a line torn by a crash before it is ended first.

    Raises:
        OSError: there is no room, or the folder cannot be written; the file is as it was.
    """
    final = _place(path)
    fresh = not final.exists()
    with final.open("a+b", buffering=0) as file, _locked(file):
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
        torn = bool(size) and file.read() != b"\n"
        left = memoryview(b"\n" * torn + line.encode() + b"\n")
        try:
            while left:
                left = left[file.write(left) :]  # a disk that fills up takes the first part without a word
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(size)
            raise
    if fresh:
        _sync_folder(final.parent)


def check_writable(path: str | Path, n_bytes: int = 2**16) -> None:
    """Try whether a file of this name and size could be written; leaves nothing behind but its folder.

    Raises:
        OSError: it could not; the message says why.
    """
    final = _place(path)
    if final.exists() and not final.is_file():
        raise IsADirectoryError(f"{path} must be a file, or a name that is free; it is a folder or a device.")
    beside = _beside(final)
    try:
        with _opened(beside) as file:
            file.write(bytes(n_bytes))
            file.flush()
            os.fsync(file.fileno())
    finally:
        beside.unlink(missing_ok=True)


def _place(path: str | Path) -> Path:
    """Where the bytes are to lie: behind all links, in a folder that exists."""
    final = Path(path).resolve()
    final.parent.mkdir(parents=True, exist_ok=True)
    return final


def _beside(final: Path) -> Path:
    """A name in the same folder that nobody has, and that no system finds too long."""
    return final.with_name(f".{secrets.token_hex()}.part")


def _opened(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666), "wb")


@contextlib.contextmanager
def _locked(file: IO[bytes]) -> Iterator[None]:
    """Nobody else appends while the context lasts."""
    if fcntl is None:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _sync_folder(folder: Path) -> None:
    """Bring the name itself to the disk, where the system lets folders be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
