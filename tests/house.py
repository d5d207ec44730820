"""The source tree as the rules of the house read it: modules, stubs, imports."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"


def source_modules() -> dict[str, Path]:
    """Dotted name -> file, for every module of the package."""
    modules = {}
    for path in sorted(SRC.glob("cpclean/**/*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


MODULES = source_modules()


@cache
def source(module: str) -> str:
    return MODULES[module].read_text("utf-8")


@cache
def stub(module: str) -> str:
    """The declared names of a package that looks them up lazily."""
    path = MODULES[module].with_suffix(".pyi")
    return path.read_text("utf-8") if path.exists() else ""


def declared(module: str, text: str) -> dict[str, str]:
    """Public name -> home, as declared in the stub of a package."""
    return {
        name.rpartition(".")[2]: name.rpartition(".")[0]
        for name, _ in imported_names(module, True, text)
    }


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def nodes(text: str) -> list[ast.AST]:
    return list(ast.walk(parsed(text)))


@cache
def imported_names(module: str, is_package: bool, text: str) -> tuple[tuple[str, int], ...]:
    """Dotted names that a module imports and their lines: wherever in the file, for types only,
    by a string, or as an attribute of a package; relative ones made absolute."""
    return *attribute_imports(text), *named_imports(module, is_package, text)


def named_imports(module: str, is_package: bool, text: str) -> Iterator[tuple[str, int]]:
    for node in nodes(text):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".") if is_package else module.split(".")[:-1]
                kept = package[: len(package) - node.level + 1]
                base = ".".join([*kept, base] if base else kept)
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)
        elif string_import(node):
            yield from (
                (inner.value, node.lineno)
                for inner in ast.walk(node)
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
            )


def attribute_imports(text: str) -> Iterator[tuple[str, int]]:
    """Names that are looked up in our package, which loads what it does not have yet."""
    bound = {
        alias.asname or "cpclean"
        for node in nodes(text)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "cpclean" or (alias.name.startswith("cpclean.") and not alias.asname)
    }
    if not bound:
        return
    chains = [node for node in nodes(text) if isinstance(node, ast.Attribute)]
    inner = {id(node.value) for node in chains}
    for node in chains:
        root, _, rest = dotted(node).partition(".")
        if id(node) not in inner and root in bound:
            yield f"cpclean.{rest}", node.lineno


def dotted(node: ast.AST) -> str:
    """A name with its dots, as `a.b.c`, or `.c` of an expression that is no name.

    `ast.unparse` would say more, but takes many seconds for all expressions of the house.
    """
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


IMPORTERS = {"import_module", "__import__", "resolve_name", "run_module", "exec", "eval"}


def string_import(node: ast.AST) -> bool:
    """Whether a call imports what a string names."""
    return isinstance(node, ast.Call) and names_importer(node.func)


def names_importer(node: ast.AST) -> bool:
    """Whether a name, of whatever is called or renamed here, is one of those that import."""
    if isinstance(node, ast.Attribute):
        tables = {"sys.modules", "lazy_loader.load", "lazy_loader.attach"}
        return node.attr in IMPORTERS or dotted(node) in tables
    if isinstance(node, ast.alias):
        return node.name in IMPORTERS
    return isinstance(node, ast.Name) and node.id in IMPORTERS


PUBLIC = declared("cpclean", stub("cpclean"))
