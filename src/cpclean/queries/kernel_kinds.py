"""How kernels are compiled: once, for all threads, with no more ways in than are used.

Compiling takes seconds before a first answer, and a good part of them goes into the ways in. So
there are three kinds:

- a `kernel` is called from Python, too;
- a `part` is called by kernels and parts alone. It has no way in from Python: **a call from there
  ends the process**, and `tests/queries/test_kernel_kinds.py` sees to it that there is none;
- a `passage` is written out where it is called, before anything is compiled: for a part that is
  called in one place, and is a function of its own to be read.

Kernels are loops over numbers. Two of Numba's passes look for what they never have, functions
within functions and arithmetic with whole arrays, and are left out: a twentieth of the time. A
kernel that had such arithmetic would be compiled all the same, and be slower.

A compiler makes millions of small objects that stay until it is done. Python would look through
them again and again for some that nobody needs, which is a sixth of the time: it is told to wait.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

_NEVER_NEEDED = (InlineClosureLikes, NopythonRewrites)


class _FewerPasses(CompilerBase):  # type: ignore[misc, unused-ignore]
    """Numba's own way to compiled code, without what kernels never need."""

    def compile_extra(self, func: Callable[..., object]) -> Any:
        # Not within a kernel that calls this one, nor for who paused it.
        collecting = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)  # type: ignore[no-untyped-call, unused-ignore]
        finally:
            if collecting:
                gc.enable()

    def define_pipelines(self) -> list[Any]:
        manager: Any = PassManager  # untyped, as all of Numba
        builder: Any = DefaultPassBuilder
        passes = manager("kernels")
        for one, what in builder.define_nopython_pipeline(self.state).passes:
            if one not in _NEVER_NEEDED:
                passes.add_pass(one, what)
        passes.finalize()
        return [passes]


def _kind(**more: Any) -> Any:
    # No kernel divides by zero: without a check for it, less is compiled.
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
    return njit(**options, pipeline_class=_FewerPasses, **more)


kernel = _kind(no_cfunc_wrapper=True)
part = _kind(no_cfunc_wrapper=True, no_cpython_wrapper=True)
passage = _kind(no_cfunc_wrapper=True, inline="always")
