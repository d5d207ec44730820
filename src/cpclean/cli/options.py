"""Options that several commands share, and the values they become."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import click

METRICS = ("euclidean", "manhattan", "chebyshev", "cosine", "linear", "rbf")
KINDS = ("numeric", "categorical", "boolean", "date", "duration")
PRIORS = ("label", "observed", "uniform", "holoclean")
# As tables have them, whose module takes a while to load.
MAX_EXACT = 5**4
N_DRAWS = 64

Command = Callable[..., Any]
Given = TypeVar("Given")


@dataclass(frozen=True)
class Training:
    """The training table and how it is read, as options name them."""

    file: str
    label: str
    neighbors: int
    metric: str
    repairs: str
    prior: str
    null: tuple[str, ...]
    kind: tuple[str, ...]
    drop: tuple[str, ...]
    drop_unlabelled: bool
    domains: bool
    sep: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    drop_empty: bool = False
    max_exact: int = MAX_EXACT
    draws: int = N_DRAWS


@dataclass(frozen=True)
class Validation:
    """Where the validation points come from."""

    val: str | None
    val_share: float
    seed: int


def training_options(command: Command) -> Command:
    """Give a command FILE, --label and the other options as one argument, `training`."""
    return _training_options(command, required=True)


def optional_training_options(command: Command) -> Command:
    """The same for a command that works without a file: both are "" then."""
    return _training_options(command, required=False)


def _training_options(command: Command, required: bool) -> Command:
    absent: dict[str, Any] = {"required": True} if required else {"default": ""}
    return _packed(
        command,
        "training",
        Training,
        click.argument("file", **absent),
        click.option("--label", "-l", metavar="COLUMN", help="The label column.", **absent),
        click.option(
            "--neighbors", "-k", type=int, default=3, show_default=True, metavar="K",
            help="How many nearest neighbours vote.",
        ),
        click.option(
            "--metric", type=click.Choice(METRICS), default="euclidean", show_default=True,
            help="How distances between rows are measured.",
        ),
        click.option(
            "--repairs", type=click.Choice(["default", "observed", "holoclean"]), default="default",
            show_default=True,
            help="The candidates of a hole. default: five points of a numeric column, or the four "
            "most frequent categories and one for all others. observed: every observed value.",
        ),
        click.option(
            "--prior", type=click.Choice(PRIORS), default="label", show_default=True,
            help="How likely each candidate is.",
        ),
        click.option(
            "--null", multiple=True, metavar="TEXT",
            help="Text that means a missing value, such as '?'; may be repeated.",
        ),
        click.option(
            "--kind", multiple=True, metavar="COLUMN=KIND",
            help=f"What a column holds, if another kind is detected: {', '.join(KINDS)}.",
        ),
        click.option(
            "--drop", multiple=True, metavar="COLUMN",
            help="A column to leave out; may be repeated.",
        ),
        click.option(
            "--drop-unlabelled", is_flag=True, help="Leave out rows without a label."
        ),
        click.option(
            "--drop-empty", is_flag=True, help="Leave out rows with nothing but a label."
        ),
        click.option(
            "--domains", is_flag=True,
            help="The CSV file lists the candidates of cells: header age[18|30|65], cell [2|3].",
        ),
        click.option(
            "--sep", metavar="SIGN", callback=_sign,
            help="The separator between cells in text files, such as ';'.  [default: , and tabs in "
            ".tsv]",
        ),
        click.option(
            "--encoding", default="utf-8", metavar="NAME", callback=_known_encoding,
            help="The encoding of text files, such as latin-1.  [default: utf-8]",
        ),
        click.option(
            "--decimal", type=click.Choice([".", ","]), default=".",
            help="The decimal sign in text files.  [default: .]",
        ),
        click.option(
            "--max-exact", type=click.IntRange(min=1), default=MAX_EXACT, show_default=True,
            metavar="N",
            help="Rows whose holes can be filled in more ways than this are represented by draws "
            "in shares and gains, rows to predict beyond a fifth of it; what is certain is proved "
            "for all ways.",
        ),
        click.option(
            "--draws", type=click.IntRange(min=2), default=N_DRAWS, show_default=True, metavar="N",
            help="How many draws represent such a row.",
        ),
    )  # fmt: skip


def _sign(ctx: click.Context, option: click.Parameter, given: str | None) -> str | None:
    given = {"tab": "\t", "\\t": "\t"}.get(given or "", given)
    if given is not None and (len(given) != 1 or given in "\"'\n\r"):
        raise click.BadParameter(f"a separator is a single character, or tab; got {given!r}.")
    return given


def _known_encoding(ctx: click.Context, option: click.Parameter, given: str) -> str:
    import codecs

    try:
        return codecs.lookup(given).name
    except LookupError:
        raise click.BadParameter(f"unknown encoding {given!r}; try latin-1.") from None


def validation_options(command: Command) -> Command:
    """Give a command --val, --val-share and --seed as one argument, `validation`."""
    return _packed(
        command,
        "validation",
        Validation,
        click.option(
            "--val", metavar="FILE",
            help="Rows to predict, with or without labels; they may have holes, too.",
        ),
        click.option(
            "--val-share", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.2,
            show_default=True,
            help="Without --val: hold out this share of the rows of every label, at random.",
        ),
        click.option(
            "--seed", type=click.IntRange(min=0), default=0, show_default=True,
            help="Decides which rows are held out, and everything else that is random.",
        ),
    )  # fmt: skip


def _packed(command: Command, name: str, kind: type[Given], *options: Command) -> Command:
    """The command with these options, passed on as one argument."""

    @functools.wraps(command)
    def packing(**given: Any) -> Any:
        own = {field.name: given.pop(field.name) for field in fields(kind)}  # type: ignore[arg-type]
        return command(**given, **{name: kind(**own)})

    for option in reversed(options):
        packing = option(packing)
    return packing
