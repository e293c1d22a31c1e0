"""What counts as a test that ran."""

from tests.ran import all_tests, left_out


def test_a_test_in_no_run_is_told():
    assert left_out({"a", "b"}, ["passed\ta\t"]) == [("b", "in no run")]


def test_a_skip_is_no_run_unless_what_it_waits_for_is_optional():
    lines = ["skipped\ta\tno browser", "skipped\tb\toptional: no nginx", "passed\tc\t"]
    assert left_out({"a", "b", "c"}, lines) == [("a", "skipped: no browser")]


def test_a_test_that_ran_in_one_of_two_runs_has_run():
    assert left_out({"a"}, ["skipped\ta\tnot here", "failed\ta\t"]) == []


def test_this_test_is_among_those_of_its_file():
    assert "tests/test_ran.py::test_this_test_is_among_those_of_its_file" in all_tests("tests/test_ran.py")
