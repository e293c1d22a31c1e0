"""`hidviz serve` as a process of its own, with its log."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Serving:
    """A server, ready to be asked."""

    def __init__(self, *words, port=0, environment=None):
        self.log = []
        self.prefix = words[words.index("--prefix") + 1] if "--prefix" in words else ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hidviz", "serve", "--port", str(port), *map(str, words)], cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._reading = threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True)
        self._reading.start()
        said = self.process.stdout.readline()
        assert "hidviz is at" in said, (said, self.log)
        self.port = int(re.search(r":(\d+)/", said)[1])

    @property
    def url(self):
        return f"http://localhost:{self.port}{self.prefix}/hidviz"

    @property
    def children(self):
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    def kill(self):
        """Without a chance to end anything."""
        self.process.kill()
        self.close()

    def stop(self):
        """In order; gives the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.close()

    def close(self):
        """Wait for the end, and for the last line of the log; gives the exit code."""
        code = self.process.wait(120)
        self._reading.join(10)
        self.process.stdout.close()
        self.process.stderr.close()
        return code
