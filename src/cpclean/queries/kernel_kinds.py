"""How kernels are compiled: once, for all threads, with no more ways in than are used.

Compiling takes seconds before a first answer, and a good part of them goes into the ways in. So
there are three kinds:

- a `kernel` is called from Python, too;
- a `part` is called by kernels and parts alone. It has no way in from Python: **a call from there
  ends the process**, and `tests/queries/test_kernel_kinds.py` sees to it that there is none;
- a `passage` is written out where it is called, before anything is compiled: for a part that is
  called in one place, and is a function of its own to be read.
"""

from __future__ import annotations

from typing import Any

from numba import njit


def _kind(**more: Any) -> Any:
    # No kernel divides by zero: without a check for it, less is compiled.
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
    return njit(**options, **more)


kernel = _kind(no_cfunc_wrapper=True)
part = _kind(no_cfunc_wrapper=True, no_cpython_wrapper=True)
passage = _kind(no_cfunc_wrapper=True, inline="always")
