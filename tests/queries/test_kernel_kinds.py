"""Parts of kernels have no way in from Python: a call from there would end the process."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUERIES = ROOT / "src/cpclean/queries"
KINDS = {"kernel", "part", "passage"}


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
