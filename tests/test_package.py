"""The engine stands alone: importing it brings in nothing of the page."""

import inspect
import re
import subprocess
import sys

import pytest

import hidviz

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
