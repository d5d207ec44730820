"""Options that several commands share, and the values they become."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import click

from cpclean.cli.label_option import LabelOption

METRICS = ("euclidean", "manhattan", "chebyshev", "cosine", "linear", "rbf", "hamming")
KINDS = ("numeric", "categorical", "boolean", "date", "duration")
PRIORS = ("label", "observed", "uniform", "holoclean")
SPACES = ("plain", "forest", "random")
STRATEGIES = ("cpclean", "relative", "roots", "random", "cells")
# As tables and models have them, whose modules take a while to load.
MAX_EXACT, MAX_EXACT_LEAVES = 5**4, 5**3
N_DRAWS, N_DRAWS_LEAVES = 160, 64
N_PLAIN, N_LEAVES = 3, 15
# Metrics that mean something among the leaves of trees.
LEAF_METRICS = ("hamming", "euclidean", "rbf", "manhattan", "cosine", "linear")
# The space that most commands are in where nobody says; the others keep to the paper's.
USUAL_SPACE = "forest"
PAPER_SPACE = "plain"

# What --sure is where only certain predictions are settled, although a log or project says more.
CERTAIN = "certain"

Command = Callable[..., Any]


@dataclass(frozen=True)
class Training:
    """The training table and how it is read, as options name them; None: as usual in the space."""

    file: str
    label: str
    space: str
    neighbors: int | None
    metric: str | None
    repairs: str
    prior: str
    null: tuple[str, ...]
    kind: tuple[str, ...]
    drop: tuple[str, ...]
    drop_unlabelled: bool | None
    domains: bool
    sep: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    drop_empty: bool = False
    nothing: tuple[tuple[str, str], ...] = ()  # of --null, what is about one column
    suspect: tuple[str, ...] = ()
    fold: tuple[str, ...] = ()
    bins: int | None = None
    max_exact: int | None = None
    draws: int | None = None
    cluster: str | None = None


@dataclass(frozen=True)
class Validation:
    """Where the validation points come from."""

    val: str | None
    val_share: float
    seed: int


def training_options(command: Command) -> Command:
    """Give a command FILE, --label and the other options as one argument, `training`."""
    return _training_options(command, required=True, paper=False)


def optional_training_options(command: Command) -> Command:
    """The same for a command that works without a file: both are "" then."""
    return _training_options(command, required=False, paper=False)


def paper_options(command: Command) -> Command:
    """As `training_options`, for a command that is in the paper's space unless told otherwise."""
    return _training_options(command, required=True, paper=True)


def simulation_options(command: Command) -> Command:
    """As `paper_options`, for a command with --truth: without it, the space is the usual one.

    If nobody names a space, it is "" until `in_space` decides.
    """
    return _training_options(command, required=True, paper=None)


def in_space(training: Training, *, paper: bool) -> Training:
    """Decide about the space of `simulation_options`."""
    return replace(training, space=_space(training.space or None, training.metric, paper))


def optional_paper_options(command: Command) -> Command:
    """As `optional_training_options`, in the paper's space unless told otherwise."""
    return _training_options(command, required=False, paper=True)


def _training_options(command: Command, *, required: bool, paper: bool | None) -> Command:
    absent: dict[str, Any] = {"required": True} if required else {"default": ""}
    usual = f"{USUAL_SPACE}; {PAPER_SPACE} if --metric is given"
    if paper is None:
        usual = f"{PAPER_SPACE} with --truth; without it, {usual}"

    def training(**own: Any) -> Training:
        undecided = paper is None and own["space"] is None
        space = "" if undecided else _space(own["space"], own["metric"], bool(paper))
        _remember(own.pop("remember"), own["file"])
        plain, nothing = _nulls(own["null"])
        return Training(**{**own, "space": space, "null": plain, "nothing": nothing})

    return packed(
        command,
        "training",
        training,
        [*(one.name for one in fields(Training) if one.name != "nothing"), "remember"],
        click.argument("file", **absent),
        click.option(
            "--label", "-l", cls=LabelOption, metavar="COLUMN", help="The label column.", **absent
        ),
        *_model_options(PAPER_SPACE if paper else usual),
        *_reading_options(),
        *_draws_options(),
        click.option(
            "--remember", is_flag=True,
            help="Write the options about the table into cpclean.toml in this folder, so that they "
            "need not be typed again.",
        ),
        click.option(
            "--cluster", metavar="ADDRESS",
            help="Let the workers behind a Dask scheduler look at the points: its address, such as "
            "tcp://10.0.0.5:8786, or `local` for processes on this machine. The results are the "
            "same.",
        ),
    )  # fmt: skip


def _remember(asked: bool, file: str) -> None:
    """Say which options come from cpclean.toml, and write those that were typed into it."""
    from cpclean.cli.mistakes import Mistake, tell
    from cpclean.cli.project_file import NAME, remember, told

    context = click.get_current_context()
    if words := told(context):
        tell(f"From {NAME}: {words}.")
    if not asked:
        return
    if not file:
        raise Mistake("--remember needs the file of a table.")
    if remember(context, file):
        tell(f"The options of {file} are in {NAME} now; commands in this folder need none.")
    else:
        tell("No option was given that could be remembered.")


def _model_options(usual: str) -> list[Command]:
    """What is asked of the table: where, of how many neighbours, with which candidates."""
    return [
        click.option(
            "--space", type=click.Choice(SPACES),
            help="The space in which distances are measured. plain: scaled columns. forest: the "
            "leaves of a random forest, far more accurate; two rows are as far apart as the number "
            "of trees that tell them apart. random: the same with random splits, which look at no "
            f"label. What is certain is certain given the space.  [default: {usual}]",
        ),
        click.option(
            "--neighbors", "-k", type=int, metavar="K",
            help=f"How many nearest neighbours vote.  [default: {N_PLAIN} in the plain space, "
            f"{N_LEAVES} among leaves]",
        ),
        click.option(
            "--metric", type=click.Choice(METRICS),
            help="How distances between rows are measured in the plain space.  [default: "
            "euclidean]",
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
    ]  # fmt: skip


def _reading_options() -> list[Command]:
    """How the file is written, and what of it counts."""
    return [
        click.option(
            "--null", multiple=True, metavar="TEXT",
            help="Text that means a missing value, such as '?', or COLUMN=TEXT if it does so in "
            "one column, such as weight=-999; may be repeated.",
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
            "--drop-unlabelled/--refuse-unlabelled", default=None,
            help="Leave out rows without a label, or refuse a table that has some.  [default: "
            "leave them out of one file, and refuse several]",
        ),
        click.option(
            "--drop-empty", is_flag=True, help="Leave out rows with nothing but a label."
        ),
        click.option(
            "--suspect", multiple=True, metavar="COLUMN=VALUE",
            help="Doubt a value of a column, such as weight=0: these cells become holes that may "
            "have this value or others; may be repeated.",
        ),
        click.option(
            "--fold", multiple=True, metavar="COLUMN",
            help="Take categories that differ in capitals and blanks alone for one; may be "
            "repeated.",
        ),
        click.option(
            "--bins", type=click.IntRange(2, 20), metavar="N",
            help="Predict in which of N ranges a label of numbers is, with about as many rows in "
            "each.",
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
    ]  # fmt: skip


def _draws_options() -> list[Command]:
    """Which rows are represented by draws, and by how many."""
    return [
        click.option(
            "--max-exact", type=click.IntRange(min=1), metavar="N",
            help="Rows whose holes can be filled in more ways than this are represented by draws "
            "in shares and gains; for rows to predict, the limit is a fifth of it. What is certain "
            f"is proved for all ways.  [default: {MAX_EXACT}, or {MAX_EXACT_LEAVES} among leaves]",
        ),
        click.option(
            "--draws", type=click.IntRange(min=2), metavar="N",
            help="How many draws represent such a row.  "
            f"[default: {N_DRAWS}, or {N_DRAWS_LEAVES} among leaves]",
        ),
    ]  # fmt: skip


def _nulls(given: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Texts for nothing in all columns, and those in one column, by its name."""
    parted = [text.partition("=") for text in given]
    in_all = tuple(text for text, (_, sign, _) in zip(given, parted, strict=True) if not sign)
    return in_all, tuple((column, text) for column, sign, text in parted if sign)


def _space(given: str | None, metric: str | None, paper: bool) -> str:
    """The space that is meant: a metric alone means the plain one."""
    if given is None:
        return PAPER_SPACE if paper or metric is not None else USUAL_SPACE
    if given != "plain" and metric is not None and metric not in LEAF_METRICS:
        raise click.BadParameter(
            f"with --space {given}, rows are as far apart as the number of trees that tell them "
            f"apart, and --metric {metric} has no meaning. Leave out --metric, or use --space "
            "plain.",
            param_hint="--metric",
        )
    return given


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


def sure_option(command: Command) -> Command:
    """Give a command --sure: a level, CERTAIN, or None if nobody says."""
    return click.option(
        "--sure", metavar="LEVEL", callback=_level,
        help="When a prediction is settled: if it is certain, or if one label holds at least this "
        "share of the prior mass, such as 0.95. `certain`: only if it is certain.  [default: "
        "certain]",
    )(command)  # fmt: skip


def _level(ctx: click.Context, option: click.Parameter, given: str | None) -> float | str | None:
    if given is None or given == CERTAIN:
        return given
    try:
        level = float(given)
    except ValueError:
        level = 0.0
    if not 0.5 < level < 1:
        raise click.BadParameter(
            "a level must be a number between 0.5 and 1, both excluded, such as 0.95; got "
            f"{given!r}. For predictions that are the same in every world, use {CERTAIN}.",
            param_hint="--sure",
        )
    return level


def level_of(sure: float | str | None, begun: float | None = None) -> float | None:
    """The level that --sure means; where nobody says, the one that was begun with."""
    return begun if sure is None else sure if isinstance(sure, float) else None


def validation_options(command: Command) -> Command:
    """Give a command --val, --val-share and --seed as one argument, `validation`."""
    return packed_as(
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


def packed_as(command: Command, name: str, made: type, *options: Command) -> Command:
    """As `packed`, where each option is a field of a dataclass."""
    return packed(command, name, made, [one.name for one in fields(made)], *options)


def packed(
    command: Command, name: str, made: Callable[..., Any], names: list[str], *options: Command
) -> Command:
    """The command with these options, passed on as one argument, which is made of them by name."""

    @functools.wraps(command)
    def packing(**given: Any) -> Any:
        own = {one: given.pop(one) for one in names}
        return command(**given, **{name: made(**own)})

    for option in reversed(options):
        packing = option(packing)
    return packing
