"""Keeping: a button that hands out the run that is shown as one file, its pictures drawn aside so the page goes on."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui

from hidviz.experiments import Frame, save_bundle
from hidviz.ui.text.language import ENGLISH, _, speaking


def export_button(shown: Callable[[], Frame | None]) -> Any:
    """The button Export.

    Args:
        shown: the newest frame of the run that the page shows.
    """

    async def exported() -> io.BytesIO:
        button.param.update(data=None, loading=True)  # else a file equal to the last one would not be handed out again
        try:
            frame = shown()
            return io.BytesIO() if frame is None else await kept(frame)
        finally:
            button.loading = False

    button = pmui.FileDownload(
        label=_("Export"), callback=exported, filename="hidviz-run.zip", sizing_mode="stretch_width", margin=4
    )
    button.variant = "outlined"  # given to the constructor, it is taken for a deprecated button_style
    return button


async def kept(frame: Frame) -> io.BytesIO:
    """A bundle with figures, ready to be read; made in a thread of its own, since drawing takes a second or two."""
    return await asyncio.to_thread(_packed, frame)


def _packed(frame: Frame) -> io.BytesIO:
    from hidviz.ui.export.run_figures import draw_run  # not before somebody wants them: matplotlib takes its time

    content = io.BytesIO()
    with speaking(ENGLISH):  # as everything in files
        save_bundle(content, frame, draw_run(frame))
    content.seek(0)
    return content
