"""The files for those who serve hidviz to others: nginx in front of it, systemd, a container."""

import re
import shlex
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from hidviz.cli.main import _parser
from tests.benchmarks.visitor import Visitor
from tests.faults.servers import ROOT, Serving
from tests.loops import run_aside

FILES = ROOT / "assets" / "deployment"


def there(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"optional: {program} is not installed")


def commands(name):
    """The arguments of every `hidviz serve` that a file speaks of."""
    text = (FILES / name).read_text(encoding="utf-8")
    return [shlex.split(found) for found in re.findall(r"hidviz (serve .*)", text) if "`" not in found]


@pytest.mark.parametrize("name", ["nginx.conf", "hidviz.service"])
def test_the_commands_in_the_files_are_understood(name):
    (words,) = commands(name)
    given = _parser().parse_args(words)
    assert given.prefix == "/hidviz"
    assert given.allow_origin == ["class.example.org"]
    assert given.num_procs == 2
    assert given.address == "localhost", "the proxy alone is reached from outside"


def test_the_container_runs_what_there_is():
    lines = (FILES / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    assert all((ROOT / word).exists() for word in copied)
    entry, more = (re.findall(r'"([^"]*)"', line) for line in lines if line.startswith(("ENTRYPOINT", "CMD")))
    given = _parser().parse_args([*entry[1:], *more])
    assert (given.address, given.num_procs) == ("0.0.0.0", 2)


@there("systemd-analyze")
def test_the_unit_of_systemd_has_no_fault(tmp_path):
    text = (FILES / "hidviz.service").read_text(encoding="utf-8")
    unit = tmp_path / "hidviz.service"
    unit.write_text(text.replace("/opt/hidviz/.venv/bin/hidviz", shutil.which("true")), encoding="utf-8")
    judged = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert [line for line in judged.stderr.splitlines() if "hidviz.service" in line] == []
    assert judged.returncode == 0


@contextmanager
def proxy(folder, port):
    """nginx with the file for it, in front of this port; gives its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        own = probe.getsockname()[1]
    text = (FILES / "nginx.conf").read_text(encoding="utf-8")
    assert text.count("127.0.0.1:5006") == text.count("listen 80;") == 1
    text = text.replace("127.0.0.1:5006", f"127.0.0.1:{port}").replace("listen 80;", f"listen 127.0.0.1:{own};")
    (folder / "hidviz.conf").write_text(text, encoding="utf-8")
    (folder / "all.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; "
        f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; "
        f"include {folder}/hidviz.conf; }}\n",
        encoding="utf-8",
    )
    running = subprocess.Popen(["nginx", "-p", folder, "-c", folder / "all.conf"], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not listening(own):
            assert running.poll() is None, Path(folder / "errors").read_text(encoding="utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield own
    finally:
        running.terminate()
        running.wait(30)


def listening(port):
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


async def stepped(url):
    visitor = await Visitor.open(url)
    await visitor.press("Step")
    await visitor.until(lambda now: now["step"] == 1)
    await visitor.close()


@pytest.mark.slow
@there("nginx")
def test_the_page_works_behind_nginx_under_a_path_with_two_processes(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    running = Serving("--prefix", "/hidviz", "--allow-origin", "localhost", "--num-procs", 2, port=free)
    try:
        with proxy(tmp_path, running.port) as port:
            base = f"http://localhost:{port}/hidviz"
            deadline = time.monotonic() + 120
            while status(f"{base}/healthz") != 200:  # the processes are still starting
                assert time.monotonic() < deadline
                time.sleep(0.5)
            run_aside(stepped(f"{base}/hidviz?nv=5&nh=1&T=300&out=100"))
            page = urllib.request.urlopen(f"{base}/hidviz", timeout=120).read().decode()
            scripts = re.findall(r'<script[^>]*src="([^"]+)"', page)
            assert scripts
            for script in scripts:
                assert status(urllib.parse.urljoin(f"{base}/hidviz", script)) == 200, script
    finally:
        assert running.stop() == 0


def status(url):
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0
