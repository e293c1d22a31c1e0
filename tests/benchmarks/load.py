"""Many sessions on one server: how long a press takes, how fast every run goes on, what is left afterwards.

    python -m tests.benchmarks.load [--sessions 30] [--seconds 20] [--num-procs 1]
    python -m tests.benchmarks.load --soak 200

Starts `panel serve app.py` on a free port of this machine, and opens the sessions as Visitors do: over the wire as a
browser, without its drawing. All press Run; then each presses Pause and Run again every few seconds, at its own time.
The latency is from the press to the status line that says so. The runs are those of Fig. 3 by gradient ascent, the
paper's rule, since L-BFGS would be done before the last session has opened; a run that ends is run again. Afterwards as
many runs go on without a page (`headless`): their steps are what the machine could make at most. Both are counted once
every run has made its first step.

The soak opens sessions in groups of ten, runs each for a moment, closes them as tabs are closed, but for every fifth,
which vanishes without a word, and prints the server's memory after every twenty. Visitors use the same cores as the
server, so a server alone is a little faster.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hidviz.ui.state.link import write_link
from tests.benchmarks.headless import RUN, of_processes
from tests.benchmarks.table import head, heading, line
from tests.benchmarks.visitor import Visitor

ROOT = Path(__file__).parents[2]
QUERY = "?" + write_link(RUN)
PAUSE_EVERY = 10.0  # seconds between two presses of Pause in one session
IDLE = 6.0  # seconds for which all sessions are open and none does anything
GROUP = 10  # sessions open at the same time in a soak


@dataclass(frozen=True)
class Server:
    """A server under load: its address, its process, whose children count as it, and how long it keeps a session that
    nobody visits, in seconds."""

    url: str
    process: int
    lifetime: int

    def usage(self) -> tuple[int, float]:
        """Threads, and resident memory in MB; zeros where the system does not tell.

        Raises:
            RuntimeError: the server is no more.
        """
        threads, kilobytes = 0, 0
        for process in (self.process, *_children(self.process)):
            with contextlib.suppress(OSError):
                status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
                known = dict(entry.split(":", 1) for entry in status.splitlines())
                if "VmRSS" not in known:
                    raise RuntimeError("The server has ended; run `panel serve app.py` by hand to see why.")
                threads += int(known["Threads"])
                kilobytes += int(known["VmRSS"].split()[0])
        return threads, kilobytes / 1024

    @property
    def worked(self) -> float:
        """Processor seconds that it has taken so far; 0 where the system does not tell."""
        ticks = 0
        for process in (self.process, *_children(self.process)):
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2]
                ticks += sum(int(each) for each in fields.split()[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")


def _children(process: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


@contextlib.contextmanager
def serving(n_processes: int = 1, lifetime: int = 30) -> Iterator[Server]:
    """`panel serve app.py` on a free port, as long as the context lasts."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "panel", "serve", "app.py", "--port", str(port), "--address", "127.0.0.1"]
    command += ["--unused-session-lifetime", str(1000 * lifetime), "--check-unused-sessions", "1000"]
    command += ["--num-procs", str(n_processes), "--allow-websocket-origin", f"127.0.0.1:{port}"]
    log = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait_for(process, f"http://127.0.0.1:{port}/favicon.ico")
        yield Server(f"http://127.0.0.1:{port}/app", process.pid, lifetime)
    finally:  # the whole group: processes that the server has started do not end with it
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("panel serve app.py does not answer; run it by hand to see why.") from None
            time.sleep(0.2)


@dataclass(frozen=True)
class Load:
    """What a load measured; arrays hold one number per press, or per session."""

    opening: np.ndarray
    idle: float  # milliseconds of processor time a second and session, while nobody does anything
    pause: np.ndarray
    run: np.ndarray
    frames: np.ndarray
    steps: np.ndarray
    visiting: float  # processors that the visitors take from the server
    usage: dict[str, tuple[int, float]]


async def loaded(server: Server, n_sessions: int, seconds: float) -> Load:
    """Open sessions one after the other, run all of them for some seconds, close them."""
    await _visit(server, 1, 0.0)  # what is made once per process belongs to the state before
    usage = {"before": await _settled(server)}
    visitors: list[Visitor] = []
    opening: list[float] = []
    try:
        for _ in range(n_sessions):
            begin = time.monotonic()
            visitors.append(await Visitor.open(server.url + QUERY))
            opening.append(time.monotonic() - begin)
        await asyncio.sleep(2.0)  # what a page is sent after it has opened
        worked = server.worked
        await asyncio.sleep(IDLE)
        idle = 1000 * (server.worked - worked) / (IDLE * n_sessions)
        usage["idle"] = server.usage()
        for visitor in visitors:
            await visitor.press("Run")
        await asyncio.gather(*[visitor.until(lambda state: state["running"]) for visitor in visitors])

        ready = [visitor.steps for visitor in visitors]
        while any(each.steps == steps for each, steps in zip(visitors, ready, strict=True)):  # data are made first
            await asyncio.sleep(0.1)

        begun, visited = time.monotonic(), time.process_time()
        before = [(visitor.frames, visitor.steps) for visitor in visitors]
        presses = asyncio.gather(*[_use(v, PAUSE_EVERY * k / n_sessions, seconds) for k, v in enumerate(visitors)])
        await asyncio.sleep(seconds / 2)
        usage["during"] = server.usage()
        latencies = [latency for one in await presses for latency in one]
        elapsed = time.monotonic() - begun
        visiting = (time.process_time() - visited) / elapsed
        done = np.array([(v.frames, v.steps) for v in visitors]) - np.array(before)
    finally:
        await asyncio.gather(*[visitor.close() for visitor in visitors])
    usage["after"] = await _settled(server)
    pause, run = np.array(latencies).reshape(-1, 2).T
    return Load(np.array(opening), idle, pause, run, done[:, 0] / elapsed, done[:, 1] / elapsed, visiting, usage)


async def _use(visitor: Visitor, delay: float, seconds: float) -> list[tuple[float, float]]:
    """Pause and run again, every few seconds; the latencies of both."""
    end = time.monotonic() + seconds
    latencies: list[tuple[float, float]] = []
    await asyncio.sleep(delay)
    while time.monotonic() < end:
        ended = visitor.runs_ended
        if visitor.state["running"]:
            await visitor.press("Pause")
            paused = await visitor.until(lambda state: not state["running"])
            own = visitor.state["state"] == "learning" and visitor.runs_ended == ended + 1
            await visitor.press("Run")
            running = await visitor.until(lambda state: state["running"])
            latencies += [(paused, running)] * own
        else:  # the run has come to its end by itself
            await visitor.press("Run")
            await visitor.until(lambda state: state["running"])
        await asyncio.sleep(max(0.0, min(PAUSE_EVERY, end - time.monotonic())))
    return latencies


async def _visit(server: Server, n_sessions: int, seconds: float) -> None:
    """Open some sessions, run all of them for a while, end them together: every fifth vanishes, the others close."""
    visitors = [await Visitor.open(server.url + QUERY) for _ in range(n_sessions)]
    for visitor in visitors:
        await visitor.press("Run")
    await asyncio.gather(*[visitor.until(lambda state: state["running"]) for visitor in visitors])
    await asyncio.sleep(seconds)
    await asyncio.gather(
        *[visitor.vanish() if number % 5 == 4 else visitor.close() for number, visitor in enumerate(visitors)]
    )


async def _settled(server: Server) -> tuple[int, float]:
    """Threads and memory once closed sessions are gone."""
    await asyncio.sleep(server.lifetime + 5)
    return server.usage()


async def soaked(server: Server, n_sessions: int) -> list[tuple[int, int, float]]:
    """Open and close sessions; rows of sessions so far, threads, MB."""
    rows = []
    for count in range(0, n_sessions, GROUP):
        await _visit(server, min(GROUP, n_sessions - count), 1.0)
        opened = min(count + GROUP, n_sessions)
        if opened % 20 == 0 or opened == n_sessions:
            rows.append((opened, *await _settled(server)))
            print(line([str(opened), str(rows[-1][1]), f"{rows[-1][2]:.0f}"]), flush=True)
    return rows


def _print_load(load: Load) -> None:
    print(head(["", "median", "95 %", "worst"]))
    for name, seconds in (("opening a session", load.opening), ("Pause", load.pause), ("Run", load.run)):
        if seconds.size:
            median, high = np.quantile(seconds, [0.5, 0.95])
            print(line([f"{name}, s (n = {seconds.size})", f"{median:.2f}", f"{high:.2f}", f"{seconds.max():.2f}"]))
    print(f"\na session on which nothing happens: {load.idle:.1f} ms of processor time a second")
    print(f"\n{head(['per session', 'least', 'mean', 'most', 'least / mean'])}")
    for name, rate in (("frames a second", load.frames), ("steps a second", load.steps)):
        least, mean, most = rate.min(), rate.mean(), rate.max()
        share = f"{least / mean:.2f}" if mean else "–"
        print(line([name, f"{least:.2f}", f"{mean:.2f}", f"{most:.2f}", share]))
    print(f"\n{head(['server', 'threads', 'memory, MB'])}")
    for when, (threads, megabytes) in load.usage.items():
        print(line([when, str(threads), f"{megabytes:.0f}"]))


def main(arguments: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.load", description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=30, help="1 to 100")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long all of them run, 1 to 300")
    parser.add_argument("--num-procs", type=int, default=1, help="processes of the server, 1 to 8")
    parser.add_argument(
        "--lifetime", type=int, default=30, help="seconds a session without a visitor is kept, 5 to 300"
    )
    parser.add_argument("--soak", type=int, default=0, help="instead: open and close this many sessions, up to 1000")
    options = parser.parse_args(arguments)
    for name, low, high in (
        ("sessions", 1, 100),
        ("seconds", 1, 300),
        ("num_procs", 1, 8),
        ("lifetime", 5, 300),
        ("soak", 0, 1000),
    ):
        if not low <= getattr(options, name) <= high:
            parser.error(f"--{name.replace('_', '-')} must lie between {low} and {high}")

    print(f"{heading()}\n")
    with serving(options.num_procs, options.lifetime) as server:
        if options.soak:
            print(head(["sessions opened and closed", "threads", "memory, MB"]))
            rows = asyncio.run(soaked(server, options.soak))
            if len(rows) > 1:
                first, last = rows[0], rows[-1]
                print(f"\n{(last[2] - first[2]) / (last[0] - first[0]):.2f} MB a session since {first[0]} sessions")
        else:
            seen = asyncio.run(loaded(server, options.sessions, options.seconds))
    if not options.soak:
        _print_load(seen)
        alone = of_processes(options.sessions, max(10.0, options.seconds), options.num_procs)
        print(f"\nall runs: {seen.steps.sum():.0f} steps a second; as many without a page: {alone:.0f}")
        print(f"the visitors themselves take {seen.visiting:.2f} of {os.cpu_count()} cores")
    return 0


if __name__ == "__main__":
    sys.exit(main())
