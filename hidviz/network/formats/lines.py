"""Lines: a text file as bytes of UTF-8, its lines, and which of them hold something.

Lines end with a line feed, a carriage return, or both. A line that is no UTF-8 is read as Windows' Latin 1.
"""

from __future__ import annotations

FIRST_BYTES = 2**16  # in which the first lines are usually found
PACKED = {b"\x1f\x8b": "compressed by gzip", b"PK\x03\x04": "a zip archive or an Excel workbook"}


def as_utf8(raw: bytes) -> bytes:
    """The bytes of a text, its mark of the encoding taken off.

    Raises:
        ValueError: it is no text.
    """
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16").encode()
    for magic, what in PACKED.items():
        if raw.startswith(magic):
            raise ValueError(f"is {what}, whatever its name says: unpack it, or save the sheet as .csv")
    head = raw[:4096]
    if len(head) > 1 and not any(head[1::2]) and all(head[::2]):
        return raw.decode("utf-16-le", errors="replace").encode()
    if b"\x00" in head:
        raise ValueError("is no text: it holds zero bytes. Save it as UTF-8")
    return raw.removeprefix(b"\xef\xbb\xbf")


def decoded(line: bytes) -> str:
    """A line as text."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("cp1252", errors="replace")


def head_of(raw: bytes, n: int) -> list[bytes]:
    """The first lines with their ends, more than `n` of which hold something; all where there are no more."""
    lines = raw[:FIRST_BYTES].splitlines(keepends=True)
    if len(raw) > FIRST_BYTES and sum(map(holds, lines[:-1])) > n:
        return lines[:-1]
    return raw.splitlines(keepends=True)


def holds(line: bytes) -> bool:
    """Whether a line is neither blank nor a remark."""
    return bool(stripped := line.strip()) and not stripped.startswith(b"#")
