"""Trials on the complete rows of a project, in a thread of their own, when somebody asks for them.

They are those of `cpclean simulate` without a truth, with the rows of the table, the holes of the
table and of the rows to predict, and the project's space, candidates and prior.
"""

from __future__ import annotations

import logging
import time
from threading import Lock, Thread
from typing import Any

import numpy as np

from cpclean.analysis.trial_run import TrialSettings
from cpclean.analysis.trust import STRATEGIES, TrialSizes, trials_of
from cpclean.analysis.trust_words import TrustFindings
from cpclean.data.domains import DomainTable
from cpclean.errors import CPCleanError
from cpclean.intake.sentences import refusal, said
from cpclean.projects.project import Project
from cpclean.queries.model import usual_model
from cpclean.queries.sureness import LEVEL
from cpclean.web.desk.engine import SHOWN_SECONDS, Engine

log = logging.getLogger("cpclean.web")


class _StoppingError(Exception):
    """The server ends: nobody waits for the trials any more."""


class Trying:
    """The trials of a project, which are made once.

    Parameters
    ----------
    project : Project
    engine : Engine
        It tells everybody who looks that there is news.

    Attributes
    ----------
    at : (str, float) or None
        While trials are made: what is going on, and the share that is done.
    found : TrustFindings or None
        What they found.
    problem : str
        Why there can be none, in words; "" if nothing is known to be in the way.
    """

    def __init__(self, project: Project, engine: Engine) -> None:
        self._project, self._engine = project, engine
        self._lock = Lock()
        self.at: tuple[str, float] | None = None
        self.found: TrustFindings | None = None
        self.problem = ""

    def start(self) -> None:
        """Begin, unless somebody else has; this returns at once."""
        with self._lock:
            if self.at is not None or self.found is not None:
                return
            self.at, self.problem = ("Reading", 0.0), ""
        self._engine.publish()
        Thread(target=self._try, name="cpclean trials", daemon=True).start()

    def _try(self) -> None:
        found, problem = None, ""
        try:
            found = _trials(self._project, self._follow())
        except _StoppingError:
            return
        except CPCleanError as error:
            problem = f"There can be no trials: {said(error, 'page')}"
        except Exception as error:  # the page says it, and people go on
            log.exception("the trials failed")
            problem = f"The trials failed: {type(error).__name__}. The server's log says more."
        with self._lock:
            self.at, self.found, self.problem = None, found, problem
        self._engine.publish()

    def _follow(self) -> Any:
        shown_at = time.monotonic()

        def follow(words: str, share: float) -> None:
            nonlocal shown_at
            if self._engine.stopping:
                raise _StoppingError
            if time.monotonic() - shown_at > SHOWN_SECONDS:
                shown_at = time.monotonic()
                self.at = (words, share)
                self._engine.publish()

        return follow


def _trials(project: Project, follow: Any) -> TrustFindings:
    if project.files is not None:
        raise refusal("trust_files")
    if isinstance(project.frame, DomainTable):
        raise refusal("trust_domains")
    table, own, about = project.table, project.settings, project.settings.about or {}
    usual = own.model == usual_model(table.dataset)  # trials of few rows are in another space
    drawing = table.dataset.drawing
    settings = TrialSettings(
        space="plain" if table.leaves is None else table.leaves,
        n_neighbors=None if usual else own.model.n_neighbors,
        metric=None if usual else own.model.metric,
        table={
            "repairs": _repairs(project),
            "prior": about.get("prior") or "label",
            "max_exact": drawing.max_exact,
            "n_draws": drawing.n_draws,
        },
        sure=own.sure or LEVEL,
        strategies=STRATEGIES,
    )
    seed = own.random_state
    return trials_of(table, project.raw_points, settings, TrialSizes(), seed, progress=follow)


def _repairs(project: Project) -> Any:
    """The candidates by name, or as they are listed for whole columns."""
    named = (project.settings.about or {}).get("repairs")
    if isinstance(named, str):
        return named
    columns = {column.name: column for column in project.table.columns}
    listed = {
        name: columns[name].all_shown(np.asarray(values, dtype=columns[name].values.dtype))
        for name, values in project.table.column_values.items()
    }
    return {name: list(values) for name, values in listed.items()} or "default"
