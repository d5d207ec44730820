"""cpclean simulate without a truth: trials on the complete rows of a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from cpclean.cli.many_files import refuse_many
from cpclean.cli.mistakes import INTERRUPTED, Mistake, note, tell
from cpclean.cli.options import Training, Validation
from cpclean.cli.output import drawn, for_people, print_text, terminal, working, write
from cpclean.cli.tasks import choices_of, kinds_of, read_frame

if TYPE_CHECKING:
    from cpclean.analysis.trust_words import TrustFindings
    from cpclean.intake.open_task import Opened
    from cpclean.intake.tidying import Tidying


def refuse_without_truth(**given: Any) -> None:
    """Refuse options that mean something only with --truth."""
    for name, value in given.items():
        if value is not None:
            raise Mistake(
                f"--{name} needs --truth FILE, the same rows without holes. Without it, cleaning "
                "is tried until everything is settled."
            )


def try_on_own_rows(
    training: Training,
    validation: Validation,
    strategies: tuple[str, ...],
    n_trials: int,
    format_: str | None,
    out: str | None,
    sure: float | None = None,
) -> None:
    """Print what trials on the complete rows of a table find, also after Ctrl-C."""
    found = trust_of(training, validation, strategies, n_trials, sure)
    _tell(found, format_, out)
    if found.interrupted:
        click.echo("Interrupted. The results so far are above.", err=True)
        raise click.exceptions.Exit(INTERRUPTED)


def trust_of(
    training: Training,
    validation: Validation,
    strategies: tuple[str, ...] = (),
    n_trials: int | None = None,
    sure: float | None = None,
) -> TrustFindings:
    """What trials on the complete rows of a training file find."""
    from cpclean.intake.open_task import Remark, noted

    refuse_many(training.file)
    if "cells" in strategies:
        raise Mistake("--strategy cells needs --truth FILE; without it, rows are counted.")
    notes: list[Remark] = []
    with working("Reading"), noted(notes):
        (frame, tidying), points = _rows(training), None
        if validation.val is not None:
            points = tidying.of(read_frame(validation.val, training))[0]
    for one in notes:
        note(one)
    return _tried(frame, points, training, validation, strategies, n_trials, sure)


def trust_in(
    opened: Opened, training: Training, validation: Validation, sure: float | None
) -> TrustFindings:
    """The same for a file that is open already: the rows of it that play a part."""
    from cpclean.data.domains import plain_frame
    from cpclean.intake.sentences import refusal

    task, original = opened.task, opened.original
    if original.domains:
        raise refusal("trust_domains")
    numbers = [*task.row_names.tolist(), *(task.point_names.tolist() if opened.held_out else ())]
    frame = plain_frame(task.frame).drop(columns=list(choices_of(training).drop))
    points = None if opened.held_out else task.raw_points
    return _tried(frame.iloc[sorted(numbers)], points, training, validation, sure=sure)


def _tried(
    frame: Any,
    points: Any,
    training: Training,
    validation: Validation,
    strategies: tuple[str, ...] = (),
    n_trials: int | None = None,
    sure: float | None = None,
) -> TrustFindings:
    from cpclean.analysis.trust import N_TRIALS, STRATEGIES, trust
    from cpclean.queries.sureness import LEVEL

    return trust(
        frame,
        training.label,
        points,
        space=training.space,
        n_neighbors=training.neighbors,
        metric=training.metric,
        repairs=training.repairs,
        prior=training.prior,
        strategies=strategies or STRATEGIES,
        sure=sure or LEVEL,
        kinds={name: kind for name, kind in kinds_of(training).items() if name in frame.columns},
        null_tokens=training.null,
        max_exact=training.max_exact,
        n_draws=training.draws,
        n_trials=n_trials or N_TRIALS,
        val_share=validation.val_share,
        random_state=validation.seed,
        n_jobs=-1,
    )


def _rows(training: Training) -> tuple[Any, Tidying]:
    """The rows and columns of the training file that play a part, and how they were tidied."""
    from cpclean.data.domains import DomainTable
    from cpclean.intake.checking import check_columns, check_rows
    from cpclean.intake.open_task import read_whole
    from cpclean.intake.sentences import refusal
    from cpclean.intake.source_file import SourceFile
    from cpclean.intake.tidying import tidied

    source, choices = SourceFile.at(training.file), choices_of(training)
    given = read_whole(source, choices)
    if isinstance(given, DomainTable):
        raise refusal("trust_domains")
    check_columns(given, choices)
    frame, about_cells, tidying = tidied(given.drop(columns=list(choices.drop)), choices)
    left_out = check_rows(frame, source, choices)
    for one in (*about_cells, *left_out):
        note(one)
    gone = [row for one in left_out for row in one.rows]
    return frame.drop(index=frame.index[gone]), tidying


def _tell(found: TrustFindings, format_: str | None, out: str | None) -> None:
    import pandas as pd

    if out is None and format_ == "json":
        print_text(json.dumps(found.as_dict(), indent=2, ensure_ascii=False) + "\n")
        return
    if not for_people(format_, out):
        tell(found.sentence)
        figures = [(" / ".join(one.name), one.mean, one.spread) for one in found.figures]
        write(pd.DataFrame(figures, columns=["figure", "mean", "spread"]), format_, out)
        return
    console = terminal()
    console.print(found.sentence, soft_wrap=False, markup=False)
    for table in found.tables:
        frame = pd.DataFrame(table.rows, columns=table.head)
        console.print(drawn(frame, table.title, right=table.head[1:]))
    for words in found.notes:
        console.print(words, soft_wrap=False, markup=False)
