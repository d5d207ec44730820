"""cpclean simulate: what cleaning would achieve, where the truth is known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.charts import curves
from cpclean.cli.mistakes import INTERRUPTED
from cpclean.cli.options import (
    STRATEGIES,
    Training,
    Validation,
    in_space,
    level_of,
    simulation_options,
    sure_option,
    validation_options,
)
from cpclean.cli.output import for_people, output_options, ready, terminal, working, write
from cpclean.cli.sessions import open_session, tell_completions, tell_draws
from cpclean.cli.tasks import open_given
from cpclean.cli.trials import refuse_without_truth, try_on_own_rows
from cpclean.progress_bar import progress_bar

if TYPE_CHECKING:
    from cpclean.cleaning.session import CleaningSession
    from cpclean.data.task import Task

# Accuracy is worked out at about this many places of a curve: each is a look at all points.
LOOKS = 20
# Lines of a curve on a screen.
SCREEN = 12


@dataclass(frozen=True)
class Step:
    """The state of a session after some answers; means, where there are several runs."""

    answers: int
    certain: float
    sure: float  # or certain
    entropy: float
    accuracy: float | None


@click.command(short_help="What cleaning achieves; can I trust it on my table?")
@simulation_options
@validation_options
@sure_option
@output_options
@click.option(
    "--truth",
    metavar="FILE",
    help="The same rows, complete. Without it, trials are made on the complete rows of the table.",
)
@click.option(
    "--strategy",
    "-s",
    "strategies",
    type=click.Choice(STRATEGIES),
    multiple=True,
    help="Which row, or cell, is asked about next; may be repeated, to compare.  "
    "[default: cpclean; without --truth: all but cells]",
)
@click.option("--budget", type=click.IntRange(min=0), metavar="N", help="At most N answers.")
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How many random orders, or, without --truth, trials; figures are their means.",
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"One line of the curve for every N answers.  [default: about {LOOKS} lines]",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Answer with the true values instead of the candidates nearest to them.",
)
def simulate(
    training: Training,
    validation: Validation,
    sure: float | str | None,
    truth: str | None,
    strategies: tuple[str, ...],
    budget: int | None,
    runs: int,
    every: int | None,
    exact: bool,
    format_: str | None,
    out: str | None,
) -> None:
    """Answer from a file with the true values: how many answers does it take?

    FILE is the training table, with holes; --truth has the same rows, in the same order, without
    holes. The curve shows, for each number of answers, the share of predictions that are certain,
    and certain or 95% sure, their mean entropy, and the accuracy if the validation rows have
    labels. With --sure, questions end when all are certain or that sure.

    Without --truth: can predictions be trusted on this table? Complete rows get holes as the table
    has them, and everything is compared with the values that were there: predictions, models that
    people use instead, and rows to clean.

    \b
    Example:
      cpclean simulate train.csv --label y
      cpclean simulate train.csv --truth truth.csv --label y
      cpclean simulate train.csv --truth truth.csv -l y -s cpclean -s random
    """
    ready(out)
    if truth is None:
        refuse_without_truth(budget=budget, every=every, exact=exact or None)
        training = in_space(training, paper=False)
        try_on_own_rows(training, validation, strategies, runs, format_, out, level_of(sure))
        return
    training = in_space(training, paper=True)
    from cpclean.cli.oracle import true_rows

    with working("Reading"):
        task = open_given(training, validation).task
        known = true_rows(truth, training, task)
        tell_draws(task, training)
        tell_completions(task)
    found: dict[str, list[Step]] = {}
    interrupted = False
    for strategy in dict.fromkeys(strategies or ("cpclean",)):
        done: list[list[Step]] = []
        try:
            for run in range(runs if strategy == "random" else 1):
                with working("Looking at the predictions"):
                    seed = validation.seed + run
                    session = open_session(task, training, strategy, seed, sure=level_of(sure))
                done.append([])
                _clean(session, known, budget, every, exact, done[-1])
        except KeyboardInterrupt:
            interrupted = True
        if done and done[0]:
            found[strategy] = _mean([steps for steps in done if steps])
        if interrupted:
            break
    _tell(found, task, level_of(sure), format_, out)
    if interrupted:
        click.echo("Interrupted. The results so far are above.", err=True)
        raise click.exceptions.Exit(INTERRUPTED)


def _clean(
    session: CleaningSession,
    truth: Any,
    budget: int | None,
    every: int | None,
    exact: bool,
    steps: list[Step],
) -> None:
    """Answer until a session is done or the budget is spent, and record the states."""
    from cpclean.cleaning.simulation import Person

    person = Person(session, truth, exact)
    limit = sum(len(session.view.cells(row)) for row in session.data.dirty_rows.tolist())
    if session.strategy != "cells":
        limit = len(session.data.dirty_rows)
    limit = limit if budget is None else min(limit, budget)
    every = every or max(1, limit // LOOKS)
    steps.append(_step(session))
    console = terminal(stderr=True)
    with progress_bar(limit, str(session.strategy), console=console, transient=True) as follow:
        while budget is None or len(session.history) < budget:
            question = session.ask()
            if question is None:
                break
            session.tell(question.row, **person.answer(question))
            if len(session.history) % every == 0:
                steps.append(_step(session))
            follow(len(session.history))
    if steps[-1].answers < len(session.history):
        steps.append(_step(session))


def _step(session: CleaningSession) -> Step:
    return Step(
        len(session.history),
        session.certain_share,
        session.sure_share,
        session.mean_entropy,
        None if session.y_val is None else session.accuracy(),
    )


def _mean(runs: list[list[Step]]) -> list[Step]:
    """The mean of several curves; one that ended early stays where it ended."""
    found = []
    for answers in sorted({step.answers for steps in runs for step in steps}):
        now = [[step for step in steps if step.answers <= answers][-1] for steps in runs]
        known = [step.accuracy for step in now if step.accuracy is not None]
        found.append(
            Step(
                answers,
                sum(step.certain for step in now) / len(now),
                sum(step.sure for step in now) / len(now),
                sum(step.entropy for step in now) / len(now),
                sum(known) / len(known) if known else None,
            )
        )
    return found


def _tell(
    found: dict[str, list[Step]],
    task: Task,
    sure: float | None,
    format_: str | None,
    out: str | None,
) -> None:
    import pandas as pd

    from cpclean.analysis.certain_words import promise

    people = for_people(format_, out)
    lines = [
        {"strategy": strategy, **asdict(step)}
        for strategy, steps in found.items()
        for step in (_thinned(steps) if people else steps)
    ]
    frame = pd.DataFrame(lines, columns=["strategy", *Step.__dataclass_fields__])
    if task.labels is None:
        frame = frame.drop(columns="accuracy")
    write(frame, format_, out, most=None)
    if people and found:
        shares = {
            name: [(one.answers, one.certain if sure is None else one.sure) for one in steps]
            for name, steps in found.items()
        }
        console = terminal()
        click.echo(f"\nShare of predictions that are {promise(sure)}:")
        click.echo(curves(shares, console.options.ascii_only))


def _thinned(steps: list[Step]) -> list[Step]:
    """As many steps as fit on a screen, the first and the last among them."""
    from cpclean.report.pictures import thinned

    return [steps[place] for place in thinned(len(steps), SCREEN)]
