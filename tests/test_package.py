"""The engine stands alone: importing it brings in nothing of the page."""

import collections.abc
import importlib.resources
import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import hidviz

ROOT = Path(hidviz.__file__).parent
PAGE = ("panel", "panel_material_ui", "bokeh", "param", "holoviews", "pandas", "matplotlib", "hidviz.ui")


def test_importing_the_engine_imports_nothing_of_the_page():
    code = f"import sys, hidviz; print([name for name in {PAGE!r} if name in sys.modules])"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in hidviz.__all__:
        assert getattr(hidviz, name) is not None


def test_public_functions_and_records_are_documented():
    for name in hidviz.__all__:
        value = getattr(hidviz, name)
        if callable(value):
            # Python gives a dataclass without a docstring its signature instead: that explains nothing.
            told = inspect.getdoc(value) or ""
            assert told.strip(), name
            assert not told.startswith(f"{name}("), name


def test_every_argument_of_a_public_function_is_explained():
    for name in hidviz.__all__:
        value = getattr(hidviz, name)
        if inspect.isfunction(value):
            arguments = inspect.signature(value).parameters
            told = inspect.getdoc(value)
            missing = [each for each in arguments if not re.search(rf"\b{re.escape(each)}\b", told)]
            assert len(arguments) < 3 or not missing, (name, missing)


def test_the_registry_is_read_only():
    for table in (hidviz.LEARNERS, hidviz.PRESETS):
        with pytest.raises(TypeError):
            table["mine"] = None


def test_help_teaches_every_public_name_in_its_group():
    told = set(re.findall(r"\b\w+\b", inspect.getdoc(hidviz)))
    assert set(hidviz.__all__) - told == {"__version__"}


def test_sweeps_are_there_when_asked_for_and_nothing_else_is():
    code = (
        "import sys, hidviz; early = 'pandas' in sys.modules; hidviz.run_sweep; print(early, 'pandas' in sys.modules)"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.split() == ["False", "True"]
    assert set(hidviz.__all__) <= set(dir(hidviz))
    with pytest.raises(AttributeError, match="no attribute 'run_sweeps'"):
        hidviz.run_sweeps  # noqa: B018


def test_every_record_in_the_signature_of_a_public_function_is_public():
    records = {
        name
        for each in (getattr(hidviz, name) for name in hidviz.__all__)
        if inspect.isfunction(each)
        for told in inspect.get_annotations(each).values()
        for name in re.findall(r"\b[A-Z]\w+\b", str(told))
    }
    ours = {name for name in records if not hasattr(typing, name) and name not in dir(collections.abc)}
    aliases = {"Array", "Hidden", "Strength", "Workers"}  # of types that are not ours
    assert ours - aliases - {"None", "Path", "DataFrame", "Dataset"} <= set(hidviz.__all__)


def test_the_types_are_there_for_those_who_check_them():
    assert (importlib.resources.files("hidviz") / "py.typed").is_file()


def test_a_clock_that_is_set_back_changes_nothing_as_nobody_asks_for_the_time_of_the_day():
    of_day = r"\btime\.(time|time_ns|localtime|gmtime|ctime)\b|\bimport datetime|\bfrom (time|datetime) import"
    found = {}
    for kind, asking in (("py", of_day), ("js", r"\bDate\b")):
        files = list(ROOT.rglob(f"*.{kind}"))
        found |= {path.name: said for path in files if (said := re.findall(asking, path.read_text(encoding="utf-8")))}
        assert len(files) > 10
    assert found == {}
