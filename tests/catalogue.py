"""The texts of the page and their translations: `python -m tests.catalogue` brings every language up to date.

It looks for the texts in the code, keeps the translations that there are, and tells which are missing. Texts are what
is marked with `_`, `_n` and `N_`, in Python, scripts and the template alike; tables whose every text is shown, of the
page and of the engine, are taken as they are.
"""

import ast
import io
import sys
from pathlib import Path
from typing import get_args

from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import write_po

from hidviz.experiments import ABOUT_PRESETS
from hidviz.learners import LEARNERS
from hidviz.learning import OPTIMISERS, STARTS
from hidviz.learning.remarks import State
from hidviz.sweeps import FIGURES
from hidviz.ui.state.knobs import KNOBS
from hidviz.ui.tabs.my_data_file import FIELDS
from hidviz.ui.text.glossary import TERMS
from hidviz.ui.text.language import ENGLISH, FOLDER, LANGUAGES, read_catalogue
from hidviz.ui.text.lessons import LESSONS

ROOT = Path(__file__).parents[1]
MARKS = {"_": 1, "N_": 1, "_n": 2}  # how many of its arguments are texts
HEAD = """# {name}: the texts of hidviz, brought up to date by `python -m tests.catalogue`; translations go here.
msgid ""
msgstr ""
"Language: {key}\\n"
"Plural-Forms: {plural}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
SCRIPTS = {".js": ("javascript", {"parse_template_string": True}), ".html": ("jinja2.ext:babel_extract", {})}


def found():
    """Every text with where it is: the file, and the text, or a pair of them where it depends on a number."""
    for path in sorted((ROOT / "hidviz" / "ui").rglob("*")):
        file = str(path.relative_to(ROOT))
        if path.suffix == ".py":
            yield from ((file, message) for message in marked(path.read_text(encoding="utf-8")))
        elif path.suffix in SCRIPTS:
            method, options = SCRIPTS[path.suffix]
            for _line, message, *_ in extract(method, io.BytesIO(path.read_bytes()), {"_": None}, options=options):
                yield file, message
    for file, texts in tables().items():
        yield from ((file, text) for text in texts if text)


def marked(code):
    """The texts that a Python file marks, in formatted strings too, where Babel does not look."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKS:
            texts = [each.value for each in node.args[: MARKS[node.func.id]] if isinstance(each, ast.Constant)]
            if texts:
                yield texts[0] if len(texts) == 1 else tuple(texts)


def tables():
    """The texts of tables that are shown as they are, by the file in which they stand."""
    steps = [step for lesson in LESSONS.values() for step in lesson.steps]
    return {
        "hidviz/ui/text/lessons.py": [
            *(lesson.title for lesson in LESSONS.values()),
            *(text for step in steps for text in (step.say, step.ask, *step.options, step.reveal)),
        ],
        "hidviz/ui/text/glossary.py": [text for term in TERMS for text in (term.name, term.written, term.says)],
        "hidviz/ui/state/knobs.py": [text for knob in KNOBS for text in (knob.label, knob.help)],
        "hidviz/learners": [
            text for method in LEARNERS.values() for text in (method.title, method.summary, method.objective)
        ],
        "hidviz/learning": [*(each.title for each in OPTIMISERS.values()), *STARTS.values(), *get_args(State)],
        "hidviz/ui/tabs/my_data_file.py": [field["help"] for field in FIELDS.values()],
        "hidviz/sweeps/paper_figures.py": [
            text for figure in FIGURES.values() for text in (figure.title, figure.look_for, figure.rules)
        ],
        "hidviz/experiments/presets.py": [
            text for about in ABOUT_PRESETS.values() for text in (about.title, about.look_for)
        ],
    }


def template():
    """All texts without translations."""
    texts = Catalog(project="hidviz", charset="utf-8", fuzzy=False)
    for file, message in found():
        texts.add(message, locations=[(file, 0)])
    return texts


def missing(catalogue):
    """The texts of a catalogue that have no translation, or lack one of its forms."""
    return [each.id for each in catalogue if each.id and not all(_forms(each.string))]


def _forms(string):
    return string if isinstance(string, tuple) else (string,)


def update(name):
    """Bring the catalogue of a language up to date, and give the texts that it misses."""
    path = FOLDER / f"{name}.po"
    known = read_catalogue(name) if path.exists() else Catalog(locale=name, charset="utf-8", fuzzy=False)
    known.update(template(), no_fuzzy_matching=True)
    known.obsolete.clear()
    content = io.BytesIO()
    write_po(content, known, width=120, sort_by_file=True, omit_header=True, include_lineno=False)
    path.parent.mkdir(exist_ok=True)
    head = HEAD.format(name=LANGUAGES[name], key=name, plural=known.plural_forms)
    path.write_bytes(head.encode() + content.getvalue())
    return missing(known)


if __name__ == "__main__":
    gaps = {name: update(name) for name in LANGUAGES if name != ENGLISH}
    for name, texts in gaps.items():
        for text in texts:
            print(f"{name}: {text!r}")
    sys.exit(any(gaps.values()))
