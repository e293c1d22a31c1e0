"""Small arrays, which travel in the text of the message that they belong to.

Bokeh sends each array behind its message as two messages more, of which every one costs the server and the browser a
turn of their own: with the curves and maps of one frame that is thirty. In the text they are a third longer.
"""

from __future__ import annotations

import sys
from base64 import b64encode
from gzip import compress
from typing import Any

import numpy as np
from bokeh.core.serialization import Serializable, Serializer
from numpy.typing import NDArray

LARGEST = 2**14  # bytes of an array that still travels in the text


class Small(np.ndarray[Any, np.dtype[np.float32]], Serializable):  # type: ignore[misc]  # bokeh.core has no types
    """An array that says itself how it is sent."""

    def to_serializable(self, _serializer: Serializer) -> Any:
        """Bokeh's notation of an array: its bytes in the frame of gzip, stored and not compressed, in base64."""
        stored = compress(np.ascontiguousarray(self).tobytes(), compresslevel=0, mtime=0)
        return {
            "type": "ndarray",
            "array": {"type": "bytes", "data": b64encode(stored).decode("ascii")},
            "shape": list(self.shape),
            "dtype": self.dtype.name,
            "order": sys.byteorder,
        }


def packed(values: NDArray[Any]) -> NDArray[np.float32]:
    """Values for the browser, as float32, which no screen tells from more; in the text if they are not many."""
    found = values.astype(np.float32)
    return found.view(Small) if found.nbytes <= LARGEST else found
