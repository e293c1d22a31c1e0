"""The page speaks plain English in the field's terms: no text of it has a word for which there is a better one."""

import ast
import re
from pathlib import Path

import pytest

import hidviz
from hidviz.learners import LEARNERS
from hidviz.learning import OPTIMISERS
from hidviz.ui.state.knobs import KNOBS

ROOT = Path(hidviz.__file__).parent
TEXTS = ("ui", "experiments/presets.py", "experiments/stopping_advice.py", "learning/stopping.py",
         "learning/starts.py", "sweeps/paper_figures.py", "learners")  # fmt: skip

BETTER = {
    r"\bclimbs?\b": "maximises",
    r"what it climbs": "objective",
    r"Judge this fit": "Score this fit",
    r"data tell (each|every|only|combination)": "the data determine",
    r"no data prefer": "data cannot select one",
    r"as they stand": "before alignment",
    r"unit mirrored": "all hidden signs flipped",
    r"^Half a flip is not": "Flipping only K (or L) is not a symmetry",
    r"nearly a symmetry": "a soft direction",
    r"told of one coupling": "Select a row for details",
    r"wants many of them": "needs many steps",
    r"no slope above": "largest gradient below",
    r"the luck of": "sampling noise",
    r"Most steps": "Maximum steps",
    r"beliefs settle": "⟨σ⟩ is updated given the data",
    r"\bGive up\b": "Cancel",
    r"^Stop (scan|checks|starts|sweep|scoring)$": "Cancel …",
    r"^ ?Stopped: \{": "Cancelled: …",
    r"path of an error": "How an error propagates back",
    r"^Not a symmetry: of": "Control: flip only part of unit",
    r"\bforetold\b": "predicted",
    r"\bhonest\b": "exact, or importance-sampled",
    r"\bsteepness\b": "largest gradient",
    r"\bmade louder\b": "scaled up",
    r"a lesson, not a tool": "shown for comparison; diverges",
    r"what nature did": "true network and data",
    r"nothing to (take back|do again)": "undo, redo",
    r"\bgibbs learner|Use gibbs": "Monte Carlo EM",
    r"\bJudging\b": "Scoring",
    r"given up\.": "cancelled",
    r"data do not tell": "not identifiable (flat direction)",
    r"climbs the average slope": "follows the gradient averaged over samples",
}


def texts():
    """Every text of the page, with where it is: strings of the Python files but for docstrings, and of the scripts."""
    for part in TEXTS:
        path = ROOT / part
        for file in sorted([path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.js")]):
            code = file.read_text(encoding="utf-8")
            if file.suffix == ".js":
                for found in re.finditer(r'"([^"\n]*)"|`([^`]*)`', code):
                    yield f"{file.name}", found[1] or found[2] or ""
                continue
            tree = ast.parse(code)
            docs = {
                id(node.body[0].value)
                for node in ast.walk(tree)
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
            }
            docs |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                    yield f"{file.name}:{node.lineno}", node.value


@pytest.mark.parametrize("worse", BETTER)
def test_no_text_of_the_page_has_a_word_for_which_there_is_a_better_one(worse):
    found = [f"{where}: {text[:80]}" for where, text in texts() if re.search(worse, text)]
    assert found == [], f"write “{BETTER[worse]}”"


def test_internal_names_are_nowhere_in_what_a_user_reads():
    inner = {name for name in (*LEARNERS, *OPTIMISERS) if "-" in name or name == "backprop"}
    shown = [method.title for method in LEARNERS.values()] + [method.summary for method in LEARNERS.values()]
    shown += [f"{knob.label} {knob.help}" for knob in KNOBS]
    for text in shown:
        for name in inner:
            assert not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text), (name, text)


def test_the_texts_that_are_searched_are_those_of_the_page():
    said = [text for _, text in texts()]
    assert len(said) > 1000
    for known in ("One-minute tour", "Flip", "Align to truth", "Handout to print"):
        assert known in said, known
