"""The shape of the house: which way imports point, what an import loads, how big a module may be.

Every rule is a function from source text to complaints, so that each has two tests: the tree
gives no complaint, and a planted offence does.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cpclean

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"

# The data's way. A module imports from its own station or from earlier ones.
STATIONS = (
    "errors",
    "data",
    "intake",
    "queries",
    "classifier",  # before cleaning: a session hands one out
    "cleaning",
    "analysis",
    "baselines",
    "report",
    "projects",
    "storage",
    "web",
    "experiments",
    "cli",
)
HEAVY = ("pandas", "polars", "pyarrow", "starlette", "uvicorn", "sqlalchemy", "dask")
VAGUE_NAMES = {"utils", "core", "helpers"}
MAX_LINES = 500
# Kernels that call each other have to share a file, or the compilation cache misses edits.
MAX_KERNEL_LINES = 700


def source_modules() -> dict[str, Path]:
    """Dotted name -> file, for every module of the package."""
    modules = {}
    for path in sorted(SRC.glob("cpclean/**/*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


MODULES = source_modules()
each_module = pytest.mark.parametrize("module", MODULES)


# --- (a) imports point backwards ---------------------------------------------------------------


def runtime_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that can run: all but the bodies of `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for branch in child.orelse:
                yield branch
                yield from runtime_nodes(branch)
        else:
            yield child
            yield from runtime_nodes(child)


def imported_names(module: str, is_package: bool, source: str) -> Iterator[str]:
    """Dotted names that a module imports, wherever in the file; relative ones made absolute."""
    for node in runtime_nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".") if is_package else module.split(".")[:-1]
                kept = package[: len(package) - node.level + 1]
                base = ".".join([*kept, base] if base else kept)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def station_of(name: str) -> str | None:
    """The station a dotted name belongs to; None if it is not ours or is the bare package."""
    package, _, rest = name.partition(".")
    if package != "cpclean" or not rest:
        return None
    first = rest.split(".")[0]
    if first in cpclean._HOMES:  # a public name, taken through the lazy table
        return cpclean._HOMES[first].split(".")[1]
    return None if first == "__version__" else first


def forward_imports(module: str, is_package: bool, source: str) -> list[str]:
    """Complaints about imports of one module that point forward along the data's way."""
    own = STATIONS.index(station_of(module))
    complaints = []
    for name in imported_names(module, is_package, source):
        station = station_of(name)
        if station is None:
            continue
        if station not in STATIONS:
            complaints.append(f"{module} imports {name}, which is at no known station")
        elif STATIONS.index(station) > own:
            complaints.append(f"{module} imports {name}, which comes later on the data's way")
    return complaints


@each_module
def test_every_module_is_at_a_station(module):
    assert module == "cpclean" or station_of(module) in STATIONS, (
        f"{module} is at no known station; add it to STATIONS at its place along the data's way"
    )


@pytest.mark.parametrize("module", [name for name in MODULES if name != "cpclean"])
def test_imports_point_backwards(module):
    path = MODULES[module]
    assert forward_imports(module, path.name == "__init__.py", path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "import cpclean.queries.shares",
        "import cpclean.queries.shares as shares",
        "from cpclean.queries import shares",
        "from cpclean.queries.shares import world_counts",
        "from cpclean import queries",
        "from cpclean import world_counts",
        "from ..queries import shares",
        "from .. import queries",
        "def f():\n    from ..queries.shares import world_counts",
        "try:\n    import numpy\nexcept ImportError:\n    import cpclean.cli",
        "if TYPE_CHECKING:\n    import numpy\nelse:\n    import cpclean.cli",
        "import cpclean.attic",
    ],
)
def test_a_forward_import_is_noticed(source):
    assert len(forward_imports("cpclean.data.incomplete", False, source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np",
        "import cpclean",
        "from cpclean import CPCleanError, IncompleteDataset, __version__",
        "from cpclean.errors import DataError",
        "from .rows import Row",
        "from ..errors import DataError",
        "if TYPE_CHECKING:\n    from cpclean.queries import shares",
        "if typing.TYPE_CHECKING:\n    from cpclean.queries import shares",
    ],
)
def test_a_backward_import_is_no_offence(source):
    assert forward_imports("cpclean.data.incomplete", False, source) == []


def test_relative_imports_of_a_package_start_at_itself():
    assert list(imported_names("cpclean.data", True, "from .rows import Row")) == [
        "cpclean.data.rows.Row"
    ]
    assert list(imported_names("cpclean.data", True, "from ..cli import main")) == [
        "cpclean.cli.main"
    ]


# --- (b) what an import loads ------------------------------------------------------------------


def loaded_by(statement: str, watched: tuple[str, ...]) -> set[str]:
    """Those of the watched modules that a new interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*(name for name in {watched!r} if name in sys.modules))"
    env = {**os.environ, "PYTHONPATH": str(SRC)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_cpclean_loads_nothing_heavy():
    assert loaded_by("import cpclean", (*HEAVY, "numba", "numpy", "sklearn", "rich")) == set()


@pytest.mark.parametrize("module", ["shares", "certain", "gains"])
def test_importing_the_queries_loads_no_dataframes_web_or_sql(module):
    assert loaded_by(f"import cpclean.queries.{module}", HEAVY) == set()


def test_the_command_line_starts_light():
    assert loaded_by("import cpclean.cli", (*HEAVY, "numba", "numpy", "sklearn", "rich")) == set()


def test_a_heavy_import_is_noticed():
    assert loaded_by("import pandas", HEAVY) >= {"pandas"}


# --- the lazy table ----------------------------------------------------------------------------


def test_public_names_are_the_lazy_table_and_the_version():
    assert sorted(cpclean.__all__) == sorted([*cpclean._HOMES, "__version__"])
    assert set(cpclean.__all__) <= set(dir(cpclean))


@pytest.mark.parametrize("name", sorted(cpclean._HOMES))
def test_public_name_is_found_where_the_table_says(name):
    home = __import__(cpclean._HOMES[name], fromlist=[name])
    assert getattr(cpclean, name) is getattr(home, name)
    assert getattr(cpclean, name).__doc__


def test_type_checkers_are_told_the_same_homes():
    told = {}
    for node in ast.parse((SRC / "cpclean/__init__.py").read_text("utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                if isinstance(line, ast.ImportFrom):
                    told.update({alias.name: line.module for alias in line.names})
    assert told == cpclean._HOMES


def test_misspelt_public_name():
    with pytest.raises(AttributeError, match="module 'cpclean' has no attribute 'word_counts'"):
        _ = cpclean.word_counts


def test_version_is_that_of_the_project_file():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert cpclean.__version__ == project["version"]


# --- (c) the oracle stands alone ---------------------------------------------------------------


def own_imports(source: str) -> list[str]:
    """Imports of ours in a file that should have none."""
    names = imported_names("oracle", False, source)
    return [name for name in names if name.split(".")[0] in {"cpclean", "src"}]


def test_the_oracle_imports_nothing_from_cpclean():
    assert own_imports((ROOT / "tests/oracle.py").read_text("utf-8")) == []


@pytest.mark.parametrize(
    "source", ["import cpclean", "from cpclean.data import rows", "def f():\n    import cpclean"]
)
def test_an_oracle_that_leans_on_cpclean_is_noticed(source):
    assert len(own_imports(source)) == 1


# --- (d) names and sizes -----------------------------------------------------------------------


def vague_parts(module: str) -> set[str]:
    return {part.strip("_") for part in module.split(".")} & VAGUE_NAMES


def excess_lines(source: str, limit: int = MAX_LINES) -> int:
    return max(0, len(source.splitlines()) - limit)


@each_module
def test_module_is_named_for_what_it_holds(module):
    assert vague_parts(module) == set()


@each_module
def test_module_is_not_too_long(module):
    kernels = module.startswith("cpclean.queries._")
    limit = MAX_KERNEL_LINES if kernels else MAX_LINES
    assert excess_lines(MODULES[module].read_text("utf-8"), limit) == 0, f"over {limit} lines"


def test_vague_names_and_long_modules_are_noticed():
    assert vague_parts("cpclean.queries._utils") == {"utils"}
    assert vague_parts("cpclean.core.scan") == {"core"}
    assert excess_lines("x = 1\n" * (MAX_LINES + 2)) == 2
    assert excess_lines("x = 1\n" * MAX_LINES) == 0


def test_the_rules_look_at_the_real_tree():
    assert {"cpclean", "cpclean.errors", "cpclean.cli"} <= set(MODULES)
