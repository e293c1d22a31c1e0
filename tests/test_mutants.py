"""The faults that are planted: each is one change, all are Python, and the table names what there is."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.equivalent import EXPLAINED, explanation
from tests.mutants import ROOT, TESTS, changed, fault, in_words, lines_of_faults, n_faults

SOURCE = """
def clip(x, low=0):
    if x < low and low:
        notify(x)
        return low + 1
    if x == 7:
        return None
    return x
"""


def planted():
    return [fault(SOURCE, k)[1] for k in range(n_faults(SOURCE))]


def test_each_fault_is_one_change_and_none_is_made_twice():
    plain = ast.unparse(ast.parse(SOURCE))
    sources = planted()
    assert len(set(sources)) == len(sources)
    assert plain not in sources
    for source in sources:
        changed = [a != b for a, b in zip(plain.splitlines(), source.splitlines(), strict=True)]
        assert sum(changed) == 1


def test_comparisons_conditions_constants_calls_and_returns_are_all_changed():
    sources = "\n".join(planted())
    for sign in ("x <= low and", "x < low or", "not (x < low and low)", "low=1", "low + 2", "low - 1", "return None"):
        assert sign in sources
    assert any("notify" not in source for source in planted())


def test_the_table_names_modules_and_tests_that_there_are():
    for module, tests in TESTS.items():
        assert n_faults((ROOT / module).read_text()) > 0, module
        assert all(Path(ROOT / test).exists() for test in tests), module


def test_what_changes_no_answer_is_left_out():
    source = "BLOCK = 3\n@dataclass(eq=False)\nclass A:\n    x = 1\ndef _seconds(n):\n    return 2 * n\n"
    assert n_faults(source) == 1
    assert "x = 2" in fault(source, 0)[1]


def statements(text):
    """Of each statement, or its head where others stand in it, the lines and what Python would write there."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno if body else node.end_lineno + 1
            yield range(node.lineno, end), ast.unparse(node).partition("\n" if body else "\0")[0]


def lines_with(piece, text):
    """The lines of the statements in which a piece of a line stands."""
    return {line for lines, said in statements(text) if piece in said for line in lines}


@pytest.mark.parametrize("each", EXPLAINED, ids=lambda each: f"{Path(each.module).stem}: {each.after}"[:60])
def test_what_is_explained_as_equivalent_is_a_fault_that_is_planted(each):
    text = (ROOT / each.module).read_text(encoding="utf-8")
    plain = ast.unparse(ast.parse(text))
    lines = [line.strip() for line in plain.splitlines() if each.before in line]
    assert lines, "the code has become another: so must the explanation"
    wanted = {(line, line.replace(each.before, each.after)) for line in lines}
    there = lines_with(each.before, text)
    near = [k for k, line in enumerate(lines_of_faults(text)) if line in there]
    assert any(changed(plain, fault(text, k)[1]) in wanted for k in near)
    assert each.reason.endswith(".")


def test_an_explanation_is_for_one_change_of_one_module():
    one = EXPLAINED[0]
    line = f"return f({one.before})"
    assert explanation(one.module, line, f"return f({one.after})") == one
    assert explanation(one.module, line, "return None") is None
    assert explanation("hidviz/other.py", line, f"return f({one.after})") is None


def test_the_share_leaves_out_what_is_explained():
    told = in_words(Counter(noticed=38, equivalent=5, survived=2))
    assert told == "38 noticed / 5 equivalent / 2 survived: 95 % noticed of 40 that are not explained as equivalent."
