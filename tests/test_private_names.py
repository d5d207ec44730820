"""No module reads or writes an underscore name of another module."""

import ast
import re
from collections.abc import Iterator

import pytest
from house import MODULES, dotted, imported_names, nodes, source

# Underscore names that their libraries document for everybody.
DOCUMENTED = {
    "_replace", "_asdict", "_fields", "_make",  # of named tuples
    "_repr_html_",  # of notebooks
    "os._exit", "sys._getframe",
}  # fmt: skip


# Calls that take the name of somebody else's attribute.
BY_NAME = ("attrgetter", "methodcaller", "getattr_static", "__getattribute__")


def is_private(name: object) -> bool:
    return isinstance(name, str) and bool(re.match(r"_[^_]|_$|__\w*[^_]$", name))


def is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}


def string_access(node: ast.AST) -> tuple[ast.AST, object] | None:
    """The object and the name of getattr(object, "name") and its like."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return None
    called = dotted(node.func)
    if called not in {"getattr", "setattr", "hasattr", "delattr", "object.__setattr__"}:
        return None
    return node.args[0], getattr(node.args[1], "value", None)


def own_names(text: str) -> set[str]:
    """What a module defines: functions, classes, names of module and classes, slots, attributes
    that its objects give themselves."""
    own = set()
    for node in nodes(text):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        if isinstance(node, ast.Module | ast.ClassDef):
            own.update(name for line in node.body for name in assigned(line))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            own.update({node.attr} if is_self(node.value) else ())
        access = string_access(node)
        if access and is_self(access[0]) and "setattr" in ast.unparse(node):
            own.add(str(access[1]))
    return own


def assigned(line: ast.stmt) -> Iterator[str]:
    """Names that a line of a module or class gives a value or a type; of slots, their strings."""
    for target in getattr(line, "targets", [getattr(line, "target", None)]):
        names = [node.id for node in ast.walk(target or line) if isinstance(node, ast.Name)]
        yield from names if target else ()
        if target and "__slots__" in names:
            yield from re.findall(r"'(\w+)'", ast.unparse(line))


def looks_behind(node: ast.AST, own: set[str]) -> bool:
    """Whether an expression takes an underscore name, or all names, of somebody else's object."""
    if isinstance(node, ast.Attribute):
        if node.attr == "__dict__":
            return not is_self(node.value)
        documented = {node.attr, dotted(node)} & DOCUMENTED
        return is_private(node.attr) and node.attr not in own and not documented
    if access := string_access(node):
        return is_private(access[1]) and access[1] not in own
    if isinstance(node, ast.Call) and dotted(node.func).endswith(BY_NAME):
        names = [getattr(one, "value", None) for one in node.args]
        return any(is_private(name) and name not in own for name in names)
    if isinstance(node, ast.Call) and dotted(node.func) == "vars":
        return not (node.args and is_self(node.args[0]))
    return False


def private_import(name: str, package: str) -> bool:
    """Whether a dotted name of ours is private elsewhere: kernels are for their own folder only."""
    parts = name.split(".")
    if parts[0] != "cpclean" or not any(is_private(part) for part in parts):
        return False
    inside = ".".join(parts[: package.count(".") + 1]) == package
    return not inside or (is_private(parts[-1]) and parts[-2] not in package.split("."))


def private_reads(module: str, is_package: bool, text: str) -> list[str]:
    """Complaints about underscore names that a module takes from elsewhere."""
    own = own_names(text)
    package = module if is_package else module.rpartition(".")[0]
    reads = [
        f"{module}:{node.lineno} looks behind {ast.unparse(node)}"
        for node in nodes(text)
        if looks_behind(node, own)
    ]
    imports = [
        f"{module}:{line} imports {name}"
        for name, line in imported_names(module, is_package, text)
        if private_import(name, package)
    ]
    return reads + imports


def test_no_module_looks_behind_anothers_names():
    complaints = [
        complaint
        for module, path in MODULES.items()
        for complaint in private_reads(module, path.name == "__init__.py", source(module))
    ]
    assert complaints == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(data):\n    return data._rows",
        "def f(data):\n    data._rows = 1",
        "def f(data):\n    _rows = data._rows\n    return _rows",
        "class A(Base):\n    def f(self):\n        return self._inherited",
        "def f(data):\n    return data.__dict__",
        "def f(data):\n    return vars(data)",
        "def f(data):\n    return getattr(data, '_rows')",
        "def f(data):\n    setattr(data, '_rows', 1)",
        "rows = operator.attrgetter('_rows')",
        "def f(data):\n    return data.__getattribute__('_rows')",
        "def f(data):\n    object.__setattr__(data, '_rows', 1)",
        "from cpclean.data.rows import _check",
        "from cpclean.queries import _race",
        "import cpclean.queries._race",
        "from cpclean.queries._race import scan",
        "from ..queries._race import scan",
    ],
)
def test_a_look_behind_anothers_names_is_noticed(text):
    assert len(private_reads("cpclean.data.table", False, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    def __init__(self):\n        self._rows = 1\ndef f(a):\n    return a._rows",
        "class A:\n    _rows: int\ndef f(a):\n    a._rows = 1",
        "class A:\n    __slots__ = ('_rows',)\ndef f(a):\n    return getattr(a, '_rows')",
        "class A:\n    def __init__(self):\n        object.__setattr__(self, '_a', 1)\n"
        "    def f(self, other):\n        return other._a",
        "class A:\n    def f(self, other):\n        return self.__dict__",
        "def _f():\n    return 1\nx = _f()",
        "place = place._replace(row=1)._asdict()",
        "os._exit(1)",
        "from cpclean.data._kernels import scan",
        "from . import _kernels",
    ],
)
def test_own_names_are_no_offence(text):
    assert private_reads("cpclean.data._kernels", False, text) == []
