"""A disk of a few kilobytes that can be filled and enlarged: a tmpfs, where this process may mount one."""

import subprocess
from contextlib import contextmanager

import pytest


class Disk:
    """A mounted tmpfs."""

    def __init__(self, folder, kilobytes):
        self.folder = folder
        self._mount(f"size={kilobytes}k")

    def fill(self):
        """Leave no room at all."""
        with (self.folder / "filler").open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def clear(self):
        """Give the room back."""
        (self.folder / "filler").unlink()

    def _mount(self, options):
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "none", str(self.folder)], capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip(f"optional: a small disk needs the right to mount one: {done.stderr.decode().strip()}")


def names(folder):
    """The names of everything in a folder."""
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def small_disk(folder, kilobytes):
    folder.mkdir(exist_ok=True)
    disk = Disk(folder, kilobytes)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
