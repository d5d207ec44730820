"""The rooms of the web point one way, as the docstring of `cpclean.web` says."""

import re

import pytest
from house import MODULES, imported_names, source

import cpclean.web

# What each room may import from, besides itself.
BELOW = {
    "guard": set(),
    "desk": set(),
    "api": {"guard", "desk"},
    "pages": {"guard", "desk"},
    "server": {"guard", "desk", "api", "pages"},
}


def room_of(name: str) -> str | None:
    found = re.match(r"cpclean\.web\.(\w+)", name)
    return found[1] if found else None


@pytest.mark.parametrize("room", BELOW)
def test_imports_within_the_web_point_one_way(room):
    modules = [name for name in MODULES if room_of(name) == room]
    assert modules
    for module in modules:
        is_package = MODULES[module].name == "__init__.py"
        for name, _ in imported_names(module, is_package, source(module)):
            assert room_of(name) in {None, room, *BELOW[room]}, f"{module} imports {name}"


def test_the_guard_knows_no_table():
    for module in [name for name in MODULES if room_of(name) == "guard"]:
        names = [name for name, _ in imported_names(module, False, source(module))]
        assert [one for one in names if one.startswith("cpclean") and not room_of(one)] == []


def test_every_room_is_described():
    rooms = {room_of(name) for name in MODULES} - {None}
    assert rooms == set(BELOW)
    assert set(re.findall(r"(\w+)/ ", cpclean.web.__doc__)) == rooms
