"""The button that takes in a file of the user's own, with one limit said before and after it is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui


class RunFile(pmui.FileInput):  # type: ignore[misc]  # panel has no types
    """A file input that hands over what was chosen, or a sentence why it was not taken.

    Args:
        on_file: called with the content of the file.
        on_refused: called with a sentence.
        largest: bytes that a file may have.
    """

    _esm_base = "FileInput.jsx"

    def __init__(
        self, on_file: Callable[[bytes], None], on_refused: Callable[[str], None], largest: int, **params: Any
    ) -> None:
        super().__init__(multiple=False, max_file_size=largest, **params)
        self._on_refused, self._largest, self._arrived = on_refused, largest, 0
        self.param.watch(lambda event: on_file(event.new) if event.new else None, "value")

    def _handle_msg(self, message: dict[str, Any]) -> None:
        """Count what arrives, since the browser's own check can be left out."""
        status = message.get("status")
        if status == "initializing":
            self._arrived = 0
        elif status == "upload_event":
            self._arrived += len(message.get("data", b""))
        if status == "error" or self._arrived > self._largest:
            self._buffer.clear()
            self._file_buffer.clear()
            self._on_refused(f"This file was not opened: it may have at most {self._largest // 2**20} MB.")
        elif status in ("initializing", "upload_event", "finished"):
            super()._handle_msg(message)
            if status == "finished":
                self.clear()  # else the same file would not be a new one when it is chosen again
