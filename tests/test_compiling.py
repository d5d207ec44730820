import subprocess
import sys

import pytest

from cpclean import compiling

QUICK = """
import numba, numpy
from cpclean import compiling

compiling.PATIENCE = {patience}
compiling.watch()
compiling.watch()

def slow(x):
    for i in range(x.shape[0]):
        x[i] = numpy.sort(x)[i]
    return x

def quick(x):
    return x + 1

for function in (slow, quick):
    function.__module__ = {module!r}
    numba.njit(function)(numpy.zeros(3))
"""


def said(**choices):
    """What a process prints to standard error in which kernels of a module are compiled."""
    done = subprocess.run(
        [sys.executable, "-c", QUICK.format(**choices)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout == ""
    return done.stderr


@pytest.mark.slow
def test_one_line_says_that_kernels_are_compiled():
    line = compiling.WORDS.format(left=compiling.USUAL) + "\n"
    assert said(patience=0.0, module="cpclean.queries._order") == line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("patience", "module"), [(0.0, "elsewhere"), (600.0, "cpclean.queries._order")]
)
def test_nothing_is_said_of_other_code_or_before_long(patience, module):
    assert said(patience=patience, module=module) == ""


def test_short_compilations_add_up(capsys, monkeypatch):
    moments = iter([0.0, 1.5, 10.0])
    monkeypatch.setattr(compiling.time, "monotonic", lambda: next(moments))
    waits = []

    class Timer:
        def __init__(self, seconds, say):
            waits.append(seconds)
            self.start = self.cancel = lambda: None

    monkeypatch.setattr(compiling.threading, "Timer", Timer)
    notice = compiling.Notice()
    for kernel in (compiling.Notice.begin, compiling.Notice.end):
        notice.begin(kernel)
        notice.begin(test_short_compilations_add_up)  # within the first: does not count
        notice.end(test_short_compilations_add_up)
        if kernel is compiling.Notice.begin:
            notice.end(kernel)
    assert waits == [2.0, 0.5]
    assert capsys.readouterr().err == ""
