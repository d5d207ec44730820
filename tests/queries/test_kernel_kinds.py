"""Parts of kernels have no way in from Python, and get into the kernels that call them."""

from __future__ import annotations

import ast
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import event

from cpclean.queries.kernel_kinds import kernel, part

ROOT = Path(__file__).parents[2]
QUERIES = ROOT / "src/cpclean/queries"
KINDS = {"kernel", "part"}


def kind_of(node: ast.stmt) -> str | None:
    if not isinstance(node, ast.FunctionDef):
        return None
    names = {one.id for one in node.decorator_list if isinstance(one, ast.Name)}
    return next(iter(names & KINDS), None)


def parts_of(source: str) -> set[str]:
    found = (node for node in ast.parse(source).body if kind_of(node) == "part")
    return {node.name for node in found if isinstance(node, ast.FunctionDef)}


def misused(source: str, own: set[str], others: dict[str, set[str]]) -> set[str]:
    """Parts that a module reads outside of compiled functions: its own, or those of others."""
    found = set()
    imported = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            of = others.get(node.module.rpartition(".")[2], set())
            imported.update({one.asname or one.name: one.name in of for one in node.names})
        if kind_of(node) is not None:
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and (inner.id in own or imported.get(inner.id)):
                found.add(inner.id)
            if isinstance(inner, ast.Attribute):
                of = inner.value.id if isinstance(inner.value, ast.Name) else ""
                found.update({inner.attr} & others.get(of, set()))
    return found


def test_parts_are_called_by_compiled_functions_alone() -> None:
    parts = {file.stem: parts_of(file.read_text("utf-8")) for file in QUERIES.glob("_[a-z]*.py")}
    assert parts["_terms"] >= {"term_of", "join"}
    modules = [
        file for room in ("src", "tests", "benchmarks") for file in (ROOT / room).rglob("*.py")
    ]
    for file in modules:
        own = parts.get(file.stem, set()) if file.parent == QUERIES else set()
        assert not misused(file.read_text("utf-8"), own, parts), file


@pytest.mark.parametrize(
    "source",
    [
        "_near._step(1)",
        "from cpclean.queries._near import _step\n_step(1)",
        "def plain():\n    return _near._step(1)",
    ],
)
def test_a_call_from_python_is_found(source: str) -> None:
    assert misused(source, set(), {"_near": {"_step"}})
    assert not misused(source, set(), {"_near": {"_other"}})


def test_a_call_from_a_module_of_kernels_is_found() -> None:
    source = (
        "@part\ndef _step(x):\n    return x\n\n@kernel\ndef all_steps(x):\n    return _step(x)\n"
    )
    assert parts_of(source) == {"_step"}
    assert not misused(source, {"_step"}, {})
    assert misused(source + "\ndef plain(x):\n    return _step(x)\n", {"_step"}, {}) == {"_step"}


@part
def _room(n):
    return np.empty(n, np.uint16)


@kernel
def twice(n):
    return _room(n).shape[0] + np.empty(n, np.uint16).shape[0]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="parts are plain functions")
def test_parts_are_compiled_into_kernels() -> None:
    compiled = []

    class Listener(event.Listener):
        def on_start(self, event):
            compiled.append(event.data["dispatcher"].py_func.__qualname__)

        def on_end(self, event):
            pass

    listener = Listener()
    event.register("numba:compile", listener)
    try:
        assert twice(3) == 6
        twice.recompile()  # if it was saved
    finally:
        event.unregister("numba:compile", listener)
    # For all its callers once, though their options differ.
    assert sum("np_empty" in name for name in compiled) == 1
    assert "_room" in compiled
    with pytest.raises(KeyError, match="_room is a part of kernels, and only they can call it"):
        _room(3)
