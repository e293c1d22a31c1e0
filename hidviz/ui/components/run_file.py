"""Buttons that take in files of the user's own, with one limit said before and after they are sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel_material_ui as pmui

from hidviz.ui.text.language import _


class Files(pmui.FileInput):  # type: ignore[misc]  # panel has no types
    """A file input that hands over what was chosen or dropped, or a sentence why it was not taken.

    Args:
        on_files: called with the names of the files and the content of each.
        on_refused: called with a sentence.
        largest: bytes that all files together may have.
    """

    _esm_base = "FileInput.jsx"

    def __init__(
        self,
        on_files: Callable[[Mapping[str, bytes]], None],
        on_refused: Callable[[str], None],
        largest: int,
        *,
        multiple: bool = True,
        **params: Any,
    ) -> None:
        # No `max_total_file_size`: the browser would count each file twice, and refuse one of more than half of it.
        super().__init__(multiple=multiple, max_file_size=largest, **params)
        self._on_files, self._on_refused = on_files, on_refused
        self._largest, self._arrived, self._refused = largest, 0, False
        self.param.watch(self._hand_over, "value")

    def _hand_over(self, event: Any) -> None:
        if not event.new:
            return
        names, contents = (self.filename, event.new) if self.multiple else ([self.filename], [event.new])
        self._on_files(dict(zip(names, contents, strict=True)))

    def _handle_msg(self, message: dict[str, Any]) -> None:
        """Count what arrives, since the browser's own check can be left out."""
        status = message.get("status")
        if status == "initializing":
            self._arrived, self._refused = 0, False
        elif status == "upload_event":
            self._arrived += len(message.get("data", b""))
        if status == "error" or self._arrived > self._largest:
            self._buffer.clear()
            self._file_buffer.clear()
            if not self._refused:
                self._on_refused(
                    _("This file was not opened: it may have at most {largest} MB.", largest=self._largest // 2**20)
                )
            self._refused = True
        elif status in ("initializing", "upload_event", "finished"):
            super()._handle_msg(message)
            if status == "finished":
                self.clear()  # else the same file would not be a new one when it is chosen again


class RunFile(Files):
    """The same for a single file, of which only the content counts.

    Args:
        on_file: called with the content of the file.
        on_refused: called with a sentence.
        largest: bytes that it may have.
    """

    _esm_base = "FileInput.jsx"

    def __init__(
        self, on_file: Callable[[bytes], None], on_refused: Callable[[str], None], largest: int, **params: Any
    ) -> None:
        super().__init__(lambda files: on_file(*files.values()), on_refused, largest, multiple=False, **params)
