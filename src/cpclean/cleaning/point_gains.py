"""What each question would tell about each validation point, for strategies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cpclean.data.rows import Floats, Ints
from cpclean.queries.gain_lists import GainLists

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PointGains:
    """Gains, validation point by validation point: most questions tell nothing about most points.

    Equal points count as one, and a point with holes is one point for each completion; `weight`
    says how much each of them counts.

    Attributes
    ----------
    weight : ndarray of shape (n_points,)
        Sums to 1.
    entropy : ndarray of shape (n_points,)
        In nats.
    largest_share : ndarray of shape (n_points,)
        Of the label that most prior mass predicts.
    settled : ndarray of bool, shape (n_points,)
    point, question : ndarray of int, shape (n_entries,)
        Which point, and which question, an entry is about. There is none where the gain is 0.
    gain : ndarray of shape (n_entries,)
        How much the answer is expected to lower the entropy of the point.
    """

    weight: Floats
    entropy: Floats
    largest_share: Floats
    settled: Bools
    lists: GainLists  # by numbers of rows or cells
    asked: Ints  # the number of each question, ascending
    names: Ints | None = None  # the number that each of `numbers` stands for, if not itself

    @cached_property
    def point(self) -> Ints:
        return self.lists.point

    @cached_property
    def question(self) -> Ints:
        numbers = self.lists.numbers
        return np.searchsorted(self.asked, numbers if self.names is None else self.names[numbers])

    @cached_property
    def gain(self) -> Floats:
        return self.lists.gains.copy()

    def summed(self, factor: npt.ArrayLike) -> Floats:
        """For each question, the sum over points of weight, factor and gain.

        Parameters
        ----------
        factor : array of shape (n_points,)
            What the gain of each point counts; 0 leaves a point out.

        Returns
        -------
        ndarray of shape (n_questions,)
        """
        each = (self.weight * np.asarray(factor))[self.point] * self.gain
        return np.bincount(self.question, each, len(self.asked)).astype(np.float64)
