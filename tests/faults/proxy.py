"""A line between browser and server that can be cut, held silent, and mended: a TCP proxy in a thread."""

import asyncio
import threading


class Line:
    """Passes everything on from a port of its own to that of a server, until it is cut."""

    def __init__(self):
        self.target, self._whole, self._silent = None, True, False  # the port to lead to, once it is known
        self._writers = set()
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run(started)), daemon=True)
        self._thread.start()
        started.wait(10)

    def cut(self, *, silent=False):
        """Break every connection and take no new one; or let them be, and pass nothing on."""
        self._loop.call_soon_threadsafe(self._cut, silent)

    def mend(self):
        """Pass everything on again; what was held silent is broken now."""
        self._loop.call_soon_threadsafe(self._mend)

    def close(self):
        """Take the line down."""
        self._loop.call_soon_threadsafe(self._down.set)
        self._thread.join(10)

    def _cut(self, silent):
        self._whole, self._silent = False, silent
        if not silent:
            self._break()

    def _mend(self):
        self._break()
        self._whole, self._silent = True, False

    def _break(self):
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _run(self, started):
        self._loop, self._down = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._down.wait()
        server.close()
        self._break()

    async def _join(self, reader, writer):
        if not self._whole and not self._silent:
            writer.transport.abort()
            return
        try:
            there_reader, there = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there}
        await asyncio.gather(self._pass(reader, there), self._pass(there_reader, writer))

    async def _pass(self, reader, writer):
        try:
            while data := await reader.read(2**16):
                while self._silent:
                    await asyncio.sleep(0.05)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()
            self._writers.discard(writer)
