"""Visitor: one session of the page seen from the browser's side, without a browser.

It does over the wire what a browser does: asks for the page, opens the websocket with the token found there, pulls the
document, says that it is ready, presses buttons, and acknowledges every frame, at once and without drawing it. So
thirty of them fit beside the server that they load. What a browser costs itself is not seen here.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from tornado.httpclient import AsyncHTTPClient
from tornado.websocket import websocket_connect

SILENCE = 300.0  # seconds without the awaited answer after which a visitor gives up


class Visitor:
    """A session that is open. Make one with `await Visitor.open(url)`.

    Attributes:
        state: what the page says of itself, the status line's numbers.
        frames: how many frames have come.
        steps: how many steps of learning have been seen, over all runs of this session.
        runs_ended: how many runs have come to their end.
    """

    def __init__(self, socket: Any) -> None:
        self.state: dict[str, Any] = {}
        self.frames = self.steps = self.runs_ended = 0
        self._socket = socket
        self._numbers = count(1)
        self._status = self._transport = ""
        self._status_data = ""
        self._changed = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, url: str) -> Visitor:
        """Open a session, and wait until the page answers.

        Raises:
            TimeoutError: it does not.
        """
        async with asyncio.timeout(SILENCE):
            return await cls._opened(url)

    @classmethod
    async def _opened(cls, url: str) -> Visitor:
        answer = await AsyncHTTPClient().fetch(url, request_timeout=SILENCE)
        token = re.search(r'"token":\s*"([^"]+)"', answer.body.decode())
        assert token, f"{url} is not a page of a Bokeh server"
        address = url.replace("http", "ws", 1).partition("?")[0] + "/ws"
        socket = await websocket_connect(
            address, subprotocols=["bokeh", token[1]], max_message_size=2**28, connect_timeout=SILENCE
        )
        visitor = cls(socket)
        await visitor._receive()  # the server's greeting
        await visitor._send("PULL-DOC-REQ", {})
        while (message := await visitor._receive())[0] != "PULL-DOC-REPLY":
            visitor._take(*message)
        visitor._find(message[1])
        await visitor._send_event("document_ready", {})
        visitor._listening = asyncio.ensure_future(visitor._listen())
        await visitor.until(lambda state: state["ready"])
        return visitor

    async def press(self, button: str) -> None:
        """Press one of the buttons beside Run."""
        await self._send_event("data_event", {"model": {"id": self._transport}, "data": _encoded({"press": button})})

    async def until(self, holds: Callable[[dict[str, Any]], bool]) -> float:
        """Wait for the page to say something; seconds waited.

        Raises:
            TimeoutError: it was not said.
        """
        begin = time.monotonic()
        while not holds(self.state):
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), SILENCE - (time.monotonic() - begin))
        return time.monotonic() - begin

    async def close(self) -> None:
        """Close the session as a closed tab does."""
        self._socket.close()
        if self._listening is not None:
            await asyncio.gather(self._listening, return_exceptions=True)

    async def vanish(self) -> None:
        """Be gone without a word, as a machine that is switched off: the line is reset under what is on its way."""
        stream = getattr(self._socket, "stream", None) or self._socket.protocol.stream
        if self._listening is not None:
            self._listening.cancel()
        stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.close()

    async def _listen(self) -> None:
        while (message := await self._receive())[0]:
            answer = self._take(*message)
            self._changed.set()
            if answer is not None:
                drawn = {"model": {"id": self._status}, "data": _encoded({"drawn": answer})}
                await self._send_event("data_event", drawn)

    def _take(self, kind: str, content: Any) -> int | None:
        """Take in a message; the frame to acknowledge, if it was one."""
        frame = None
        for event in content.get("events", ()) if kind == "PATCH-DOC" else ():
            if event.get("model", {}).get("id") != self._status_data:
                continue
            if event["attr"] == "frame":
                self.frames += 1
                frame = event["new"]
            elif event["attr"] == "state":
                self._read(event["new"])
        return frame

    def _read(self, text: str) -> None:
        before, self.state = self.state, json.loads(text)
        step, last = self.state.get("step") or 0, before.get("step") or 0
        self.steps += step - last if step >= last else step
        self.runs_ended += bool(before.get("running")) and not self.state["running"]

    def _find(self, content: Any) -> None:
        for model in _objects(content):
            attributes = model.get("attributes", {})
            if attributes.get("class_name") == "Instrument":
                self._status, self._status_data = model["id"], attributes["data"]["id"]
                self._read(attributes["data"]["attributes"]["state"])
                self.steps = 0
            elif attributes.get("class_name") == "Transport":
                self._transport = model["id"]
        assert self._status_data, "the page has no status line"
        assert self._transport, "the page has no button Run"

    async def _send_event(self, name: str, values: dict[str, Any]) -> None:
        event = {"type": "event", "name": name, "values": _encoded(values)}
        await self._patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event})

    async def _patch(self, event: dict[str, Any]) -> None:
        await self._send("PATCH-DOC", {"events": [event]})

    async def _send(self, kind: str, content: dict[str, Any]) -> None:
        header = {"msgid": f"visitor-{next(self._numbers)}", "msgtype": kind}
        await asyncio.gather(*[self._socket.write_message(json.dumps(part)) for part in (header, {}, content)])

    async def _receive(self) -> tuple[str, Any]:
        """The next message, its kind and its content; an empty kind when the connection has ended."""
        if (first := await self._socket.read_message()) is None:
            return "", {}
        header = json.loads(first)
        await self._socket.read_message()
        content = await self._socket.read_message()
        for _ in range(2 * header.get("num_buffers", 0)):
            await self._socket.read_message()
        return header["msgtype"], json.loads(content)


def _encoded(values: dict[str, Any]) -> Any:
    """A dictionary in the server's notation."""
    return {"type": "map", "entries": [[key, value] for key, value in values.items()]}


def _objects(tree: Any) -> Iterator[dict[str, Any]]:
    """Every model in a document."""
    if isinstance(tree, dict):
        if tree.get("type") == "object":
            yield tree
        tree = list(tree.values())
    if isinstance(tree, list):
        for branch in tree:
            yield from _objects(branch)
