"""Keeping: the run that is shown as one file, its pictures drawn aside so that the page goes on."""

from __future__ import annotations

import asyncio
import io

from hidviz.bundle import save_bundle
from hidviz.experiments import Experiment
from hidviz.frames import Frame


async def kept(experiment: Experiment, frame: Frame) -> io.BytesIO:
    """A bundle with figures, ready to be read; made in a thread of its own, since drawing takes a second or two."""
    return await asyncio.to_thread(_packed, experiment, frame)


def _packed(experiment: Experiment, frame: Frame) -> io.BytesIO:
    from hidviz.ui.prints import prints  # not before somebody wants them: matplotlib takes its time

    content = io.BytesIO()
    save_bundle(content, experiment, frame, prints(experiment, frame))
    content.seek(0)
    return content
