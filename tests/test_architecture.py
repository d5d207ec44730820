"""The shape of the house: which way imports point, what an import loads, names and sizes.

Every rule is a function from source text to complaints, so that each has two tests: the tree
gives no complaint, and a planted offence does. A rule looks at the whole tree at once and lists
all that it finds.
"""

import ast
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Collection, Mapping

import pytest
from house import (
    MODULES,
    PUBLIC,
    ROOT,
    SRC,
    imported_names,
    names_importer,
    nodes,
    parsed,
    source,
    stub,
)

import cpclean

# The data's way. A module imports from its own room or from earlier ones.
ROOMS = (
    "errors",
    "progress_bar",
    "compiling",
    "cluster",
    "data",
    "intake",
    "queries",
    "classifier",  # before cleaning: a session hands one out
    "cleaning",
    "baselines",
    "analysis",
    "report",
    "projects",
    "storage",
    "web",
    "experiments",
    "cli",
)
# The rooms of the web, in the same way; those for programs and for people are beside each other.
WEB_ROOMS = {"guard": 0, "desk": 1, "api": 2, "pages": 2, "server": 3}
HEAVY = ("pandas", "polars", "pyarrow", "starlette", "uvicorn", "sqlalchemy", "dask")
VAGUE_NAMES = {"utils", "core", "helpers"}
MAX_LINES = 500
# Kernels that call each other have to share a file, or the compilation cache misses edits.
MAX_KERNEL_LINES = 700
# --- (a) imports point backwards ---------------------------------------------------------------


def room_of(name: str) -> str | None:
    """The room a dotted name belongs to; None if it is not ours or is the bare package."""
    package, _, rest = name.partition(".")
    if package != "cpclean" or not rest:
        return None
    first = rest.split(".")[0]
    if first in PUBLIC:
        return PUBLIC[first].split(".")[1]
    if first == "__main__":  # the same program by another name
        return "cli"
    return None if first == "__version__" else first


def forward_imports(module: str, is_package: bool, text: str) -> list[str]:
    """Complaints about imports of one module that point forward along the data's way."""
    own = ROOMS.index(room_of(module) or "")
    complaints = []
    for name, line in imported_names(module, is_package, text):
        room = room_of(name)
        if room is None:
            continue
        if room not in ROOMS:
            complaints.append(f"{module}:{line} imports {name}, which is in no known room")
        elif ROOMS.index(room) > own:
            complaints.append(f"{module}:{line} imports {name}, which is later on the data's way")
        elif room == "web" and not stands_above(name, module):
            complaints.append(f"{module}:{line} imports {name}, which is beside or below it")
    return complaints


def stands_above(name: str, module: str) -> bool:
    """Whether a module of the web may import from the web room of another."""
    own, other = ([*one.split("."), ""][2] for one in (module, name))
    if own not in WEB_ROOMS or other not in WEB_ROOMS:
        return room_of(module) != "web" or own == other
    return own == other or WEB_ROOMS[other] < WEB_ROOMS[own]


def string_imports(module: str, text: str) -> list[str]:
    """Complaints about imports that no reader of the import lines can see."""
    return [
        f"{module}:{node.lineno} imports by a string: {ast.unparse(node)}"
        for node in nodes(text)
        if names_importer(node)
    ]


def test_every_module_is_in_a_room():
    lost = [name for name in MODULES if name != "cpclean" and room_of(name) not in ROOMS]
    assert lost == [], "add the room to ROOMS, at its place along the data's way"


def test_imports_point_backwards():
    complaints = [
        complaint
        for module, path in MODULES.items()
        if module != "cpclean"
        for complaint in forward_imports(
            module, path.name == "__init__.py", source(module) + stub(module)
        )
    ]
    assert complaints == []


def test_no_import_is_hidden_in_a_string():
    complaints = [one for module in MODULES for one in string_imports(module, source(module))]
    assert complaints == []


@pytest.mark.parametrize(
    "text",
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
        "if TYPE_CHECKING:\n    from cpclean.queries import shares",
        "if typing.TYPE_CHECKING:\n    from cpclean.queries import shares",
        "import cpclean.attic",
        "import_module('cpclean.report.page').report(self)",
        "importlib.import_module('cpclean.report')",
        "def f():\n    return __import__('cpclean.cli', fromlist=['main'])",
        "import_module(f'cpclean.report.{name}')",
        "import cpclean\ncpclean.CleaningSession",
        "import cpclean as package\npackage.report.page.report(1)",
        "import cpclean.data.rows\ncpclean.web.server",
    ],
)
def test_a_forward_import_is_noticed(text):
    assert len(forward_imports("cpclean.data.incomplete", False, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np",
        "import cpclean",
        "import cpclean\ncpclean.IncompleteDataset",
        "import numpy as cpclean\ncpclean.report",
        "from cpclean import CPCleanError, IncompleteDataset, __version__",
        "from cpclean.errors import DataError",
        "from .rows import Row",
        "from ..errors import DataError",
        "if TYPE_CHECKING:\n    from cpclean.data import rows",
        "import_module('cpclean.errors')",
        "import_module('pandas')",
    ],
)
def test_a_backward_import_is_no_offence(text):
    assert forward_imports("cpclean.data.incomplete", False, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "import_module('cpclean.errors')",
        "importlib.import_module(library)",
        "__import__('pandas')",
        "pkgutil.resolve_name('cpclean.errors:CPCleanError')",
        "from importlib import import_module as usual",
        "load = importlib.import_module",
        "exec('import cpclean.web')",
        "sys.modules['cpclean.web']",
        "runpy.run_module('cpclean.cli')",
        "page = lazy_loader.load('cpclean.report.page')",
    ],
)
def test_an_import_by_a_string_is_noticed(text):
    assert len(string_imports("cpclean.data.incomplete", text)) == 1


@pytest.mark.parametrize(
    ("module", "imported", "times"),
    [
        ("cpclean.web.desk.desk", "cpclean.web.pages.forms", 1),
        ("cpclean.web.guard.tokens", "cpclean.web.desk.desk", 1),
        ("cpclean.web.pages.forms", "cpclean.web.api.messages", 1),
        ("cpclean.web.api.messages", "cpclean.web.pages.forms", 1),
        ("cpclean.web.api.messages", "cpclean.web.attic.old", 1),
        ("cpclean.web.server.app", "cpclean.web.pages.forms", 0),
        ("cpclean.web.desk.desk", "cpclean.web.guard.tokens", 0),
        ("cpclean.web.desk.desk", "cpclean.web.desk.views", 0),
        ("cpclean.cli.serve", "cpclean.web.server.process", 0),
    ],
)
def test_rooms_of_the_web_have_an_order_too(module, imported, times):
    assert len(forward_imports(module, False, f"import {imported}")) == times


def test_relative_imports_of_a_package_start_at_itself():
    assert list(imported_names("cpclean.data", True, "from .rows import Row")) == [
        ("cpclean.data.rows.Row", 1)
    ]
    assert list(imported_names("cpclean.data", True, "from ..cli import main")) == [
        ("cpclean.cli.main", 1)
    ]


# --- (b) no import cycles ----------------------------------------------------------------------


def module_of(name: str, modules: Collection[str]) -> str | None:
    """The module that a dotted name is, or is in; None if it is not ours."""
    package, _, first = name.partition(".")
    if package == "cpclean" and first in PUBLIC:
        name = f"{PUBLIC[first]}.{first}"
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def import_graph(texts: Mapping[str, tuple[bool, str]]) -> dict[str, set[str]]:
    """Module -> the modules it imports, for types only and lazily included.

    The bare package is left out: it declares names of all rooms, and loads none.
    """
    return {
        module: {
            found
            for name, _ in imported_names(module, is_package, text)
            if (found := module_of(name, texts)) not in {None, "cpclean", module}
        }
        for module, (is_package, text) in texts.items()
        if module != "cpclean"
    }


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or by way of others (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1:
                found.append(sorted(group))

    for module in graph:
        if module not in index:
            visit(module)
    return found


def test_no_modules_import_each_other():
    texts = {
        module: (path.name == "__init__.py", source(module) + stub(module))
        for module, path in MODULES.items()
    }
    assert cycles(import_graph(texts)) == []


@pytest.mark.parametrize(
    "back",
    [
        "from cpclean.data.a import f",
        "if TYPE_CHECKING:\n    from cpclean.data.a import f",
        "def g():\n    from . import a",
        "import_module('cpclean.data.a')",
    ],
)
def test_a_cycle_is_noticed(back):
    texts = {
        "cpclean": (True, ""),
        "cpclean.data": (True, ""),
        "cpclean.data.a": (False, "from cpclean.data.b import g"),
        "cpclean.data.b": (False, "import cpclean.data.c"),
        "cpclean.data.c": (False, back),
        "cpclean.data.d": (False, "from cpclean.data import a, b, c"),
    }
    assert cycles(import_graph(texts)) == [["cpclean.data.a", "cpclean.data.b", "cpclean.data.c"]]
    texts["cpclean.data.c"] = (False, "import cpclean\nfrom cpclean.errors import DataError")
    assert cycles(import_graph(texts)) == []


# --- (c) the drawing ---------------------------------------------------------------------------


def undrawn(rooms: Collection[str], docstring: str) -> list[str]:
    """Rooms that have no line of their own in the drawing."""
    drawn = set(re.findall(r"^ {4}([a-z_]+) {2,}\S", docstring, flags=re.MULTILINE))
    return sorted(set(rooms) - drawn)


def test_the_drawing_names_every_room():
    rooms = {path.stem for path in (SRC / "cpclean").iterdir() if not path.name.startswith("_")}
    assert rooms - {"py"} == set(ROOMS)
    assert undrawn(ROOMS, cpclean.__doc__) == []


def test_a_room_that_is_not_drawn_is_noticed():
    drawn = "\n    data      tables\n        │\n    cli       data and queries\n"
    assert undrawn(["data", "queries", "cli"], drawn) == ["queries"]


def test_contributing_lists_every_room():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    listed = re.findall(r"^\| `([\w/.]+)` \|", text, flags=re.MULTILINE)
    assert [name for name in listed if not (SRC / "cpclean" / name).exists()] == []
    folders = {path.parent for path in MODULES.values() if path.name == "__init__.py"}
    rooms = {f"{folder.relative_to(SRC / 'cpclean').as_posix()}/" for folder in folders}
    rooms |= {f"{room}.py" for room in ROOMS if f"{room}/" not in rooms}
    assert rooms - {"./", "web/"} == set(listed), "of the web, each room by itself"
    assert [*dict.fromkeys(re.split(r"[/.]", name)[0] for name in listed)] == list(ROOMS)


def unmapped(modules: Collection[str], docstring: str) -> list[str]:
    """Modules of a room that the map in its docstring does not name."""
    lines = re.findall(r"^ {4}([\w/]+(?:, [\w/]+)*) {2,}\S", docstring, flags=re.MULTILINE)
    return sorted(set(modules) - {name for line in lines for name in line.split(", ")})


def test_large_rooms_have_a_map():
    rooms: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        if path.name != "__init__.py":
            room, _, module = name.rpartition(".")
            rooms.setdefault(room, []).append(module)
    large = {room: found for room, found in rooms.items() if len(found) > 4 and room != "cpclean"}
    assert len(large) > 10
    missing = {
        room: names
        for room, found in large.items()
        if (names := unmapped(found, ast.get_docstring(parsed(source(room)), clean=False) or ""))
    }
    assert missing == {}, "name these modules in the docstring of their package"


def test_a_module_that_is_not_on_the_map_is_noticed():
    plan = "Room.\n\n    one, two   numbers\n    three      another\n"
    assert unmapped(["one", "two", "three"], plan) == []
    assert unmapped(["one", "four"], plan) == ["four"]
    assert unmapped(["numbers"], plan) == ["numbers"]


# --- (d) what an import loads ------------------------------------------------------------------


def loaded_by(statement: str, watched: tuple[str, ...]) -> set[str]:
    """Those of the watched modules that a new interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*(name for name in {watched!r} if name in sys.modules))"
    env = {**os.environ, "PYTHONPATH": str(SRC)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


LIGHT = (*HEAVY, "numba", "numpy", "sklearn", "rich")


def test_importing_cpclean_loads_nothing_heavy():
    assert loaded_by("import cpclean, cpclean.cli", LIGHT) == set()


def test_importing_the_queries_loads_no_dataframes_web_or_sql():
    queries = [name for name in MODULES if name.startswith("cpclean.queries.")]
    assert {"cpclean.queries.shares", "cpclean.queries.certain", "cpclean.queries.gains"} <= {
        *queries
    }
    assert loaded_by(f"import {', '.join(queries)}", HEAVY) == set()


def test_a_heavy_import_is_noticed():
    assert loaded_by("import sqlalchemy", HEAVY) >= {"sqlalchemy"}


# --- the lazy names ----------------------------------------------------------------------------


def test_public_names_are_those_of_the_stub():
    assert sorted(PUBLIC) == sorted(cpclean.__all__)
    assert set(cpclean.__all__) <= set(dir(cpclean))


def test_public_names_are_found_where_the_stub_says():
    for name, home in PUBLIC.items():
        found = getattr(cpclean, name)
        assert found is getattr(importlib.import_module(home), name)
        assert found.__doc__, name


def test_misspelt_public_name():
    with pytest.raises(AttributeError, match="No cpclean attribute word_counts"):
        _ = cpclean.word_counts


def test_version_is_that_of_the_installed_package():
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("cpclean")
    except PackageNotFoundError:
        pytest.skip("the tree is not installed here")
    assert cpclean.__version__ == installed


# --- (e) the oracle stands alone ---------------------------------------------------------------


def own_imports(text: str) -> list[str]:
    """Imports of ours in a file that should have none."""
    names = (name for name, _ in imported_names("oracle", False, text))
    return [name for name in names if name.split(".")[0] in {"cpclean", "src"}]


def test_the_oracle_imports_nothing_from_cpclean():
    assert own_imports((ROOT / "tests/oracle.py").read_text("utf-8")) == []


@pytest.mark.parametrize(
    "text", ["import cpclean", "from cpclean.data import rows", "def f():\n    import cpclean"]
)
def test_an_oracle_that_leans_on_cpclean_is_noticed(text):
    assert len(own_imports(text)) == 1


# --- (f) names and sizes -----------------------------------------------------------------------


def vague_parts(module: str) -> set[str]:
    return {part.strip("_") for part in module.split(".")} & VAGUE_NAMES


def excess_lines(text: str, limit: int = MAX_LINES) -> int:
    return max(0, len(text.splitlines()) - limit)


def used_twice(modules: Collection[str]) -> list[list[str]]:
    """Modules of different folders whose files have the same name."""
    homes: dict[str, list[str]] = {}
    for module in modules:
        if module not in MODULES or MODULES[module].name != "__init__.py":
            homes.setdefault(module.rpartition(".")[2], []).append(module)
    return [named for named in homes.values() if len(named) > 1]


def test_modules_are_named_for_what_they_hold():
    assert [module for module in MODULES if vague_parts(module)] == []


def test_no_file_name_is_used_twice():
    assert used_twice(MODULES) == []


def test_no_class_name_has_two_meanings():
    homes: dict[str, list[str]] = {}
    for module in MODULES:
        for node in parsed(source(module)).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_modules_are_not_too_long():
    limits = {
        module: MAX_KERNEL_LINES if module.startswith("cpclean.queries._") else MAX_LINES
        for module in MODULES
    }
    long = {module: excess_lines(source(module), limits[module]) for module in MODULES}
    assert {module: excess for module, excess in long.items() if excess} == {}


def test_vague_names_shared_names_and_long_modules_are_noticed():
    assert vague_parts("cpclean.queries._utils") == {"utils"}
    assert vague_parts("cpclean.core.scan") == {"core"}
    assert used_twice(["cpclean.data.a", "cpclean.data.b", "cpclean.web.desk.a"]) == [
        ["cpclean.data.a", "cpclean.web.desk.a"]
    ]
    assert excess_lines("x = 1\n" * (MAX_LINES + 2)) == 2
    assert excess_lines("x = 1\n" * MAX_LINES) == 0


def test_the_rules_look_at_the_real_tree():
    assert {"cpclean", "cpclean.errors", "cpclean.cli"} <= set(MODULES)
