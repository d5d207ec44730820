"""cpclean bench: how long queries take on this machine, compared with scikit-learn's search."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.mistakes import Mistake
from cpclean.cli.options import (
    Training,
    Validation,
    optional_paper_options,
    validation_options,
)
from cpclean.cli.output import for_people, output_options, ready, working, write
from cpclean.cli.tasks import open_given
from cpclean.data.large_counts import count_text

if TYPE_CHECKING:
    from cpclean.data.incomplete import IncompleteDataset
    from cpclean.data.points import Points
    from cpclean.queries.model import Metric, Model

# If all candidates together have more numbers than this, scikit-learn is not measured.
MOST_NUMBERS = 2 * 10**8


@dataclass(frozen=True)
class Timing:
    """The best of a few rounds."""

    what: str
    seconds: float
    cpu_seconds: float
    times_kneighbors: float | None


@click.command(short_help="How long queries take on this machine.")
@optional_paper_options
@validation_options
@output_options
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Number of rounds; the quickest one counts.",
)
def bench(
    training: Training,
    validation: Validation,
    repeat: int,
    format_: str | None,
    out: str | None,
) -> None:
    """How long queries take, on your table or, without FILE, on a generated one.

    For comparison, scikit-learn's kneighbors searches for the nearest of all candidates, for the
    same points; it knows nothing of worlds. The ratios say more than the seconds, which depend on
    the machine. The project's own benchmark, which also checks the results, is `python -m
    benchmarks` in a clone of its repository.

    \b
    Example:
      cpclean bench
      cpclean bench train.csv --label y --repeat 5
    """
    import pandas as pd

    from cpclean.queries.model import usual_model

    ready(out)
    if training.file and not training.label:
        raise Mistake("name the label column of the file with --label.")
    with working("Reading"):
        if not training.file:
            data, points = _generated(validation.seed, training.space)
        else:
            task = open_given(training, validation).task
            data, points = task.dataset, task.points
    model = usual_model(data, training.neighbors, training.metric)
    with working("Compiling") as say:
        timings = _measure(data, points, model, repeat, say)
    frame = pd.DataFrame([asdict(one) for one in timings])
    completions = f" ({len(points.owner):,} completions)" if len(points.mixtures) else ""
    title = (
        f"{data.n_rows:,} rows ({len(data.dirty_rows):,} with holes), "
        f"{count_text(data.n_candidates)} candidates x {data.n_features:,} features, "
        f"{len(points):,} points{completions}, K = {model.n_neighbors}"
    )
    if for_people(format_, out):
        frame = frame.rename(columns={"cpu_seconds": "CPU seconds", "times_kneighbors": "ratio"})
    write(frame, format_, out, title)


def _generated(seed: int, space: str) -> tuple[IncompleteDataset, Points]:
    """Two overlapping classes in 2,000 rows of 8 numbers; a fifth of the rows lacks a cell."""
    import numpy as np
    import pandas as pd

    from cpclean.data.table import IncompleteTable

    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=2500)
    values = rng.normal(size=(2500, 8)) + labels[:, None] * 0.7
    frame = pd.DataFrame(values, columns=[f"x{number}" for number in range(8)])
    train, points = frame.iloc[:2000].copy(), frame.iloc[2000:]
    for row in rng.choice(2000, size=400, replace=False).tolist():
        train.iloc[row, rng.integers(8)] = np.nan
    table = IncompleteTable(train, label=labels[:2000], space=space)
    return table.dataset, table.points(points)


def _measure(
    data: IncompleteDataset,
    points: Points,
    model: Model,
    repeat: int,
    say: Callable[[str], None],
) -> list[Timing]:
    from cpclean.cleaning.session import CleaningSession
    from cpclean.queries.certain import is_certain
    from cpclean.queries.gains import expected_entropies
    from cpclean.queries.geometry import ask
    from cpclean.queries.shares import world_shares

    k, metric = model.n_neighbors, model.metric
    ask(data, points, model)  # refuses a wrong K before anything is measured
    search = _search(data, points, k, metric)
    session = CleaningSession(data, points, k, metric=metric)

    def ask_and_tell() -> None:
        question = session.ask()
        if question is not None:
            session.tell(**question.answer(0))
            session.undo()

    tasks: dict[str, Callable[[], Any]] = {
        "is_certain": lambda: is_certain(data, points, k, metric),
        "world_shares": lambda: world_shares(data, points, k, metric),
        "expected_entropies": lambda: expected_entropies(data, points, k, metric),
        "a session's first look": lambda: CleaningSession(data, points, k, metric=metric),
        "ask, tell and undo": ask_and_tell,
    }
    base = None
    found = []
    if search is not None:
        say("Measuring kneighbors")
        base, cpu = _best(search, repeat)
        found.append(Timing("scikit-learn's kneighbors", base, cpu, 1.0))
    for what, task in tasks.items():
        say(f"Measuring {what}")
        seconds, cpu = _best(task, repeat)
        found.append(Timing(what, seconds, cpu, seconds / base if base else None))
    return found


def _search(
    data: IncompleteDataset, points: Points, k: int, metric: Metric
) -> Callable[[], Any] | None:
    """A search for the nearest of all candidates; None if these are too many to write out.

    Draws stand for the rows and points that are represented by them elsewhere, too.
    """
    import numpy as np
    from sklearn.neighbors import NearestNeighbors

    from cpclean.data.spaces.trees import Trees

    data = data.sampled
    if data.n_candidates * data.n_features > MOST_NUMBERS:
        click.echo(
            f"Note: {count_text(data.n_candidates)} candidates are too many to write out for "
            "scikit-learn.",
            err=True,
        )
        return None
    named = metric if metric in ("manhattan", "chebyshev", "cosine", "hamming") else "euclidean"
    written: Any = np.concatenate([data.candidates(row) for row in range(data.n_rows)])
    asked: Any = points.vectors
    if isinstance(trees := data.space, Trees):  # both search among the same leaves
        written, asked, named = trees.apply(written), trees.apply(asked), "hamming"
    model = NearestNeighbors(n_neighbors=k, metric=named).fit(written)
    return lambda: model.kneighbors(asked)


def _best(task: Callable[[], Any], repeat: int) -> tuple[float, float]:
    """Seconds and CPU seconds of the quickest round, after one that may compile."""
    task()
    rounds = []
    for _ in range(repeat):
        start, cpu = time.perf_counter(), time.process_time()
        task()
        rounds.append((time.perf_counter() - start, time.process_time() - cpu))
    return min(rounds)
