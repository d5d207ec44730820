"""How Numba is told to compile kernels: with less work, and as one piece of code each.

Numba would bring every function to machine code for itself, and once more within every kernel that
calls it. Of seconds before a first answer, that is a good part. So here:

- *Parts* are not brought to machine code. They are kept as they are, and get into the kernels that
  call them.
- *In one piece.* Whatever got into a kernel is called from nowhere else. Told so, the compiler
  writes out at the call what is called once, and sees the whole: kernels are quicker for it, too.
- *Once.* Numba goes over every function twice before it really begins, to find references that are
  counted for nothing. It finds them at the end, too.
- *Passes.* Kernels are loops over numbers. Two of Numba's passes look for what they never have,
  functions within functions and arithmetic with whole arrays. A kernel that had such arithmetic
  would be compiled all the same, and be slower.
- *Options.* Numba compiles the likes of `np.empty` and `min` anew for callers with other options,
  and compares all options at every operation. Those of kernels and parts differ in nothing that
  matters to what they call, and are compared at once.
- *Garbage.* A compiler makes millions of small objects that stay until it is done. Python would
  look through them again and again for some that nobody needs: it is told to wait.

All this is done to the insides of Numba, which are untyped and may change. What is overridden here
are whole steps, and no step is done that Numba does not do itself.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite.binding import (  # type: ignore[import-untyped, unused-ignore]
    Linkage,
    Target,
    create_pass_builder,
    create_pipeline_tuning_options,
)
from numba.core import codegen, compiler, config
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

_NEVER_NEEDED = (InlineClosureLikes, NopythonRewrites)
_WAY_IN = "no_cpython_wrapper"  # the only option in which kernels and parts differ

# Numba is untyped.
_CONFIG: Any = config
_AnyLibrary: Any = codegen.JITCodeLibrary
_AnyOptions: Any = compiler.Flags
_AnyCompiler: Any = compiler.CompilerBase


class _KernelLibrary(_AnyLibrary):  # type: ignore[misc]
    """A kernel and what it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = str(self.codegen.target_data)

    def _optimize_final_module(self) -> None:
        module = None
        for function in self.get_defined_functions():
            module = function.module
            if function.linkage == Linkage.linkonce_odr:  # it came from elsewhere
                function.linkage = Linkage.internal
        builder = create_pass_builder(_machine(self.codegen), _tuning())
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(module, builder)


def _tuning() -> Any:
    found: Any = create_pipeline_tuning_options(speed_level=3)
    found.loop_vectorization = _CONFIG.LOOP_VECTORIZE
    found.slp_vectorization = _CONFIG.SLP_VECTORIZE
    return found


@cache
def _machine(generator: Any) -> Any:
    """The processor that code is generated for."""
    triple, processor, features = generator.magic_tuple()
    target: Any = Target.from_triple(triple)
    return target.create_target_machine(cpu=processor, features=features, opt=3)


class _PartLibrary(_KernelLibrary):
    """A part and what it calls, not to be run but to get into kernels."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _Options(_AnyOptions):  # type: ignore[misc]
    """Options of a kernel or part that are equal if they are to what it calls."""

    __slots__ = ("_key",)

    def __init__(self, copy_from: Any = None) -> None:
        super().__init__(copy_from)
        self._key = [getattr(self, name) for name in self.options if name != _WAY_IN]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Options) and bool(self._key == other._key)

    def __hash__(self) -> int:  # as Numba has it, whose hash is that of the options' names
        return len(self._key)


class KernelCompiler(_AnyCompiler):  # type: ignore[misc]
    """Numba's own way to compiled code, without what kernels never need."""

    library: Any = _KernelLibrary

    def compile_extra(self, func: Callable[..., object]) -> Any:
        state: Any = self.state
        state.flags = _Options(state.flags)
        state.library = self.library(state.targetctx.codegen(), func.__qualname__)
        state.library.enable_object_caching()
        # Not within a kernel that calls this one, nor for who paused it.
        collecting = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if collecting:
                gc.enable()

    def define_pipelines(self) -> list[Any]:
        manager: Any = PassManager
        builder: Any = compiler.DefaultPassBuilder
        passes = manager("kernels")
        for one, what in builder.define_nopython_pipeline(self.state).passes:
            if one not in _NEVER_NEEDED:
                passes.add_pass(one, what)
        passes.finalize()
        return [passes]


class PartCompiler(KernelCompiler):
    """The same without a way in, neither from Python nor from machine code."""

    library = _PartLibrary

    def define_pipelines(self) -> list[Any]:
        self.state.targetctx.get_executable = _without_way_in
        return super().define_pipelines()


def _without_way_in(library: Any, description: Any, environment: Any) -> Any:
    """What stands for the way in from Python in Numba's tables: it raises an error, in C."""
    name = description.qualname.rpartition(".")[2]
    return f"{{{name} is a part of kernels, and only they can call it}}".format
