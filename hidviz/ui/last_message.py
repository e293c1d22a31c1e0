"""The last message to a browser, which Panel may keep back until there is another one.

Messages that must wait, because one is being written, are sent by tasks. One that has ended says that nothing waits any
more, although a message may have come since; the task of that message believes it and leaves it where it is. A page
then shows the frame before the last, or a button as it was, until something else happens.
"""

from __future__ import annotations

import logging
from functools import wraps
from typing import Any

from panel.io import document as writing

LOG = logging.getLogger(__name__)


def send_the_last_message() -> None:
    """Let each of Panel's tasks send what waits, whatever others have said of it.

    Once a process, and left out where Panel is no longer as it was.
    """
    try:
        send, block, waiting = writing._dispatch_msgs, writing._WRITE_BLOCK, writing._WRITE_MSGS
    except AttributeError as error:
        LOG.info("this Panel sends its messages in another way: %s", error)
        return
    if hasattr(send, "__wrapped__"):
        return

    @wraps(send)
    async def send_all(document: Any) -> None:
        if document in waiting:
            block[document] = True
        await send(document)

    writing._dispatch_msgs = send_all
