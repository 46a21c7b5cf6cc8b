"""One-line errors and exit codes."""

import pytest

from snippets.errors import RunError, UsageError, exit_with_one_line


def raising(error):
    def main(argv):
        raise error

    return main


def test_the_exit_code_of_main_is_passed_on():
    assert exit_with_one_line(lambda argv: len(argv), ["a", "b"]) == 2


@pytest.mark.parametrize(("error", "code"), [(UsageError("bad\nvalue"), 2), (RunError("bad  value"), 1)])
def test_an_expected_error_is_one_line(capsys, error, code):
    assert exit_with_one_line(raising(error)) == code
    assert capsys.readouterr().err == "error: bad value\n"


def test_a_second_ctrl_c_ends_without_a_traceback(capsys):
    assert exit_with_one_line(raising(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_defect_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError):
        exit_with_one_line(raising(ZeroDivisionError()))
