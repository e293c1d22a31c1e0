"""A real server of the page, for tests that look at it in a browser."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent


class Server:
    """`panel serve app.py` on a free port of this machine; what it says goes to a file, which `log` reads."""

    def __init__(self, *arguments, app="app.py"):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - until `stop`; a pipe that nobody reads would fill up
        self.url = f"http://localhost:{port}/app"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "panel", "serve", app, "--port", str(port), *arguments],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
        )
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://localhost:{port}/favicon.ico", timeout=5).close()
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(self.log) from None
                time.sleep(0.2)

    @property
    def n_threads(self):
        """Number of threads of the server process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("Threads")).split()[1])

    @property
    def log(self):
        """All that the server has said so far."""
        return os.pread(self._log.fileno(), os.fstat(self._log.fileno()).st_size, 0).decode("utf-8", "replace")

    def stop(self):
        self.process.terminate()
        self.process.wait(120)  # as long as it may take to start
        self._log.close()
