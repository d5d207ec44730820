"""How it is expected to go on: a few simulated continuations, one small step at a time.

`cpclean.analysis.forecast.expected` does the same at one go. Here people answer meanwhile: nobody
should wait for a simulation: each step takes one answer in one of the runs, and the engine looks
for news in between. A forecast from some answers ago stays useful until the next one is there.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from cpclean.cleaning.session import CleaningSession

RUNS = 3
MOST_ANSWERS = 400
MOST_SHOWN = 120  # points of a curve

Curve = list[tuple[int, float]]


@dataclass(frozen=True)
class Outlook:
    """The certain share that is expected after so many answers: mean, lowest, highest run."""

    mean: Curve
    low: Curve
    high: Curve
    whole: bool  # whether all runs came to their end

    def reach(self, share: float) -> int | None:
        """The number of answers after which this share is certain, on average."""
        # A mean of shares may fall short of the largest by a rounding.
        return next((answers for answers, mean in self.mean if mean >= share - 1e-9), None)


class Forecast:
    """Continuations of a session in which answers are drawn from the prior.

    Parameters
    ----------
    session : CleaningSession
        Where it begins; it is left as it is.
    """

    def __init__(self, session: CleaningSession) -> None:
        self.begins, self.state = len(session.history), session._state
        rngs = np.random.default_rng(self.begins).spawn(RUNS)
        self._runs = [_Run(copy(session), rng, [session.certain_share]) for rng in rngs]

    @property
    def finished(self) -> bool:
        return all(run.done for run in self._runs)

    def step(self) -> None:
        """One answer, in the run that has fewest."""
        open_ = [run for run in self._runs if not run.done]
        min(open_, key=lambda run: len(run.shares)).step()

    def outlook(self) -> Outlook:
        """What there is so far: up to where the shortest run that goes on has come."""
        lengths = [len(run.shares) for run in self._runs]
        going = [len(run.shares) for run in self._runs if not run.done]
        length = min(going, default=max(lengths))
        shares = np.array([_held(run.shares, length) for run in self._runs])
        places = np.unique(np.linspace(0, length - 1, min(length, MOST_SHOWN)).round().astype(int))

        def curve(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Curve:
            return [(self.begins + int(place), float(values[place])) for place in places]

        return Outlook(
            curve(shares.mean(axis=0)),
            curve(shares.min(axis=0)),
            curve(shares.max(axis=0)),
            self.finished,
        )


@dataclass
class _Run:
    session: CleaningSession
    rng: np.random.Generator
    shares: list[float]
    done: bool = False

    def step(self) -> None:
        question = self.session.ask() if len(self.shares) <= MOST_ANSWERS else None
        if question is None:
            self.done = True
            return
        mass = np.asarray(question.prior, dtype=np.float64)
        chosen = int(self.rng.choice(len(mass), p=mass / mass.sum()))
        self.shares.append(self.session.tell(**question.answer(chosen)).certain_share)


def _held(shares: list[float], length: int) -> list[float]:
    """As many shares as that; a run that is over stays where it is."""
    return [*shares, *shares[-1:] * (length - len(shares))][:length]
