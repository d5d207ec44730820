"""How kernels are compiled: once, for all threads, with no more ways in than are used.

Compiling takes seconds before a first answer, and a good part of them goes into the ways in. So
there are two kinds:

- a `kernel` is called from Python, and is saved beside the package;
- a `part` is called by kernels and parts alone, and gets into them. It has no way in from Python: a
  call from there is an error, and `tests/queries/test_kernel_kinds.py` sees to it that there is
  none.

`kernel_compiler` says how. It changes steps inside of Numba, which may be others in versions to
come: with a version that is not known to it, Numba compiles in its own way, and takes longer.
Kernels and their answers are the same.
"""

from __future__ import annotations

from typing import Any

import numba

FIRST_KNOWN, LAST_KNOWN = (0, 61), (0, 68)

# No kernel divides by zero: without a check for it, less is compiled.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

_compiled: Any = numba.njit  # untyped where options are Numba's own
kernel: Any
part: Any

if FIRST_KNOWN <= tuple(map(int, numba.__version__.split(".")[:2])) <= LAST_KNOWN:
    from cpclean.queries.kernel_compiler import KernelCompiler, PartCompiler

    kernel = _compiled(cache=True, pipeline_class=KernelCompiler, **_OPTIONS)
    part = _compiled(no_cpython_wrapper=True, pipeline_class=PartCompiler, **_OPTIONS)
else:
    kernel = part = _compiled(cache=True, **_OPTIONS)
