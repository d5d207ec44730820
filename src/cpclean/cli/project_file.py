"""cpclean.toml: the options of tables, so that they need not be typed again.

A file of this name in the current folder has a section for each table::

    [table."train.csv"]
    label = "y"
    drop = ["id"]

Its options are used wherever the command that names the table does not give others.
"""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from cpclean.errors import near

NAME = "cpclean.toml"
SECTION = "table"
# What is about a table and the rows to predict, rather than about one look at them.
REMEMBERED = (
    "label", "space", "neighbors", "metric", "repairs", "prior", "null", "kind", "drop",
    "drop_unlabelled", "drop_empty", "suspect", "fold", "bins", "domains", "sep", "encoding",
    "decimal", "max_exact", "draws", "val", "val_share", "seed", "sure",
)  # fmt: skip
# How those are typed that are switched off by an option of their own.
_REFUSALS = {"drop_unlabelled": "--refuse-unlabelled"}


def options_for(args: Sequence[str], folder: Path | None = None) -> dict[str, Any]:
    """The options that cpclean.toml has for the table that a command names; none without one.

    Parameters
    ----------
    args : sequence of str
        The arguments of the command, the file among them.
    folder : Path, optional
        Where cpclean.toml is; None: the current folder.
    """
    place = (folder or Path()) / NAME
    tables = _tables(place)
    for arg in args:
        for name, options in tables.items():
            if not arg.startswith("-") and _same(arg, place.parent / name):
                return _checked(options, name)
    return {}


def remember(context: click.Context, file: str) -> list[str]:
    """Write the options that were typed for a table into cpclean.toml; returns their names."""
    place = Path(NAME)
    tables = dict(_tables(place))
    name = next((one for one in tables if _same(file, Path(one))), file)
    own = dict(tables.get(name, {}))
    typed = [
        one for one in REMEMBERED
        if context.get_parameter_source(one) is ParameterSource.COMMANDLINE
    ]  # fmt: skip
    for one in typed:
        value = context.params[one]
        own[one.replace("_", "-")] = list(value) if isinstance(value, tuple) else value
    tables[name] = own
    content = "\n".join(_section(one, options) for one, options in tables.items())
    draft = place.with_name(f".part-{os.getpid()}-{NAME}")
    try:
        draft.write_text(content, "utf-8")
        os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)
    return typed


def told(context: click.Context) -> str:
    """The options of a command that come from cpclean.toml, as they would be typed."""
    words = []
    for one in REMEMBERED:
        if context.get_parameter_source(one) is not ParameterSource.DEFAULT_MAP:
            continue
        option, value = f"--{one.replace('_', '-')}", context.params[one]
        for each in value if isinstance(value, list | tuple) else [value]:
            if each is False:
                words += [_REFUSALS[one]] if one in _REFUSALS else []
            elif each is not None:
                words.append(option if each is True else f"{option} {shlex.quote(str(each))}")
    return " ".join(words)


def _tables(place: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        found = tomllib.loads(place.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise click.ClickException(f"{NAME} cannot be read: {problem}.") from problem
    if odd := [one for one in found if one != SECTION]:
        raise click.ClickException(
            f'{NAME} has sections such as [{SECTION}."train.csv"]; got {odd[0]!r}.'
        )
    tables = found.get(SECTION, {})
    if not isinstance(tables, dict) or not all(isinstance(one, dict) for one in tables.values()):
        raise click.ClickException(f'{NAME} has sections such as [{SECTION}."train.csv"].')
    return tables


def _same(one: str, other: Path) -> bool:
    return os.path.abspath(one) == os.path.abspath(other)


def _checked(options: Mapping[str, Any], name: str) -> dict[str, Any]:
    known = {one.replace("_", "-") for one in REMEMBERED}
    if odd := [one for one in options if one not in known]:
        meant = near(odd[0], known)
        raise click.ClickException(
            f"{NAME} has an unknown option {odd[0]!r} for {name!r}. {meant}".strip()
        )
    return {one.replace("-", "_"): value for one, value in options.items()}


def _section(name: str, options: Mapping[str, Any]) -> str:
    lines = [f"{one} = {_value(value)}" for one, value in options.items() if value is not None]
    return "\n".join([f"[{SECTION}.{_value(name)}]", *lines, ""])


def _value(value: Any) -> str:
    """A text, number, truth or list as TOML writes it, which is as JSON does."""
    return json.dumps(value, ensure_ascii=False)
