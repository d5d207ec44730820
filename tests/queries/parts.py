"""Parts of kernels with a way in from Python, to be tested alone."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

from numba.extending import is_jitted

from cpclean.queries.kernel_kinds import kernel


class Parts:
    """The parts of a module of kernels, and what it imports of others, as kernels of their own."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._made: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in self._made:
            part = getattr(self._module, name)
            self._made[name] = kernel(part.py_func) if is_jitted(part) else part
        return self._made[name]

    def plain(self, name: str) -> Any:
        """A kernel as plain Python around compiled parts: constants it reads can be changed."""
        found = getattr(self._module, name)
        if not is_jitted(found):
            return found

        def call(*given: object) -> Any:
            around = {
                other: getattr(self, other) if is_jitted(one) else one
                for other, one in vars(self._module).items()
            }
            return FunctionType(found.py_func.__code__, around)(*given)

        return call
