"""Parts of kernels have no way in from Python, and get into the kernels that call them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
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


ASKED = """
import sys
import numba
import numpy as np
numba.__version__ = sys.argv[1] or numba.__version__
from cpclean import IncompleteDataset, is_certain, possible_labels
rng = np.random.default_rng(0)
rows = [rng.integers(0, 4, size=(1 + at % 3, 3)) / 2 for at in range(30)]
data, points = IncompleteDataset(rows, np.arange(30) % 2), rng.integers(0, 4, size=(6, 3)) / 2
for asked in (is_certain, possible_labels):
    print(np.asarray(asked(data, points), dtype=float).tobytes().hex())
print("cpclean.queries.kernel_compiler" in sys.modules)
"""


@pytest.mark.slow
def test_another_version_of_numba_compiles_in_its_own_way(tmp_path: Path) -> None:
    answers = {}
    for version in ("", "0.60.0", "1.2.0rc1"):
        done = subprocess.run(
            [sys.executable, "-c", ASKED, version],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "other")} if version else None,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        *answers[version], known = done.stdout.split()
        assert known == str(not version)
    assert answers[""] == answers["0.60.0"] == answers["1.2.0rc1"]
