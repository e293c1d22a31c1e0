"""Unpacking: members and arrays out of an archive that anybody may have made, trusting nothing it says.

No more is unpacked than allowed, whatever the archive declares, of each array no more than it may hold; none is made
before its header is compared with the bytes there are; and nothing that could hold code is read.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np

from hidviz.numerics import Array

HEADER = 1024  # bytes before the numbers of an array in its file, at most


class DamagedError(Exception):
    """What is wrong with an archive, as the end of a sentence."""


def opened(source: str | Path | IO[bytes], largest: int) -> zipfile.ZipFile:
    """A zip archive of at most so many bytes, read as a whole.

    Raises:
        DamagedError: it is larger, or no zip archive.
        OSError: there is no such file.
    """
    if isinstance(source, str | Path):
        with Path(source).open("rb") as file:
            content = file.read(largest + 1)
    else:
        content = source.read(largest + 1)
    if len(content) > largest:
        raise DamagedError(f"it must have at most {largest // 2**20} MB.")
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, OSError, struct.error, NotImplementedError):
        raise DamagedError("it is no whole zip archive.") from None


def member(archive: zipfile.ZipFile, name: str, largest: int) -> bytes:
    """The bytes of the one member of this name.

    Raises:
        DamagedError: there is not exactly one, it is broken, or it unpacks to more than `largest` bytes.
    """
    found = [info for info in archive.infolist() if info.filename == name]
    if len(found) != 1:
        raise DamagedError(f"it must hold one {name}, got {len(found)}.")
    try:
        with archive.open(found[0]) as packed:
            content = packed.read(largest + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, struct.error, RuntimeError):
        raise DamagedError(f"{name} in it is broken.") from None  # RuntimeError: encrypted, or packed in an unknown way
    if len(content) > largest:
        raise DamagedError(f"{name} in it must unpack to at most {largest / 2**20:.3g} MB.")
    return content


def arrays(content: bytes, room: Mapping[str, int]) -> dict[str, Array]:
    """The arrays of an .npz file: exactly these names, all finite 64-bit floats.

    Args:
        content: the file.
        room: for each name how many numbers it may hold.

    Raises:
        DamagedError: other names, kinds or numbers, or a header that does not tell the truth.
    """
    archive = opened(io.BytesIO(content), len(content))
    found = archive.namelist()
    if len(found) != len(room) or set(found) != {f"{name}.npy" for name in room}:
        raise DamagedError(f"its arrays must be {', '.join(room)}.")
    return {name: _array(member(archive, f"{name}.npy", 8 * most + HEADER), name) for name, most in room.items()}


def _array(content: bytes, name: str) -> Array:
    stream = io.BytesIO(content)
    try:
        magic = np.lib.format.read_magic(stream)
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise DamagedError(f"its array {name} has no readable header.") from None
    room = len(content) - stream.tell()
    whole = all(isinstance(n, int) and n >= 0 for n in shape) and 8 * int(np.prod(shape, dtype=object)) == room
    if magic != (1, 0) or dtype != np.dtype("<f8") or not whole:
        raise DamagedError(f"its array {name} must hold as many 64-bit floats as it says.")
    stream.seek(0)
    values: Array = np.lib.format.read_array(stream, allow_pickle=False)
    if not np.isfinite(values).all():
        raise DamagedError(f"its array {name} must hold finite numbers.")
    return values
