"""A fitted object as a space: what it makes of filled rows, and nothing else is known about it.

1. *Rows* of the kind that the object was fitted on are made of vectors.
2. *Call* it: leaves, one whole number per tree, or vectors. What comes back is checked every time.
3. *Round* vectors: the last digits of a sum depend on how many rows are summed at a time, and must
   not decide which of two rows is nearer.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.data.rows import Floats
from cpclean.data.spaces.raw_rows import RawRows
from cpclean.errors import TableError, offenders

# Doubles that rows may take up at a time on their way to the object.
_BLOCK = 4_000_000
# Sparse vectors of more columns are not written out.
_WIDEST = 4096
# Vectors are rounded to this part of the power of two above the largest number of their column.
_STEP = 2.0**-32
# Whole numbers are told apart up to here.
_LARGEST = 2.0**53
# How much farther apart than rounding puts them two answers about one row may be.
_ALIKE = 2.0


def makes_leaves(fitted: Any) -> bool:
    """Whether an object, or the last step of its pipeline, has `apply`."""
    return hasattr(fitted, "apply") or hasattr(_last(fitted), "apply")


def _last(fitted: Any) -> Any:
    """The last step of a pipeline; None for anything else."""
    steps = getattr(fitted, "steps", None)
    return steps[-1][-1] if isinstance(steps, list) and steps else None


class FittedMap:
    """What a fitted object makes of filled rows.

    Parameters
    ----------
    fitted : object
        With `apply`, which returns the leaf of each row in every tree, or else with `transform`,
        which returns a vector for each row; or a pipeline whose last step has one of them.
    rows : RawRows or None
        From vectors to what the object takes; None if that is the vectors themselves.
    vectors : ndarray of shape (n, n_features)
        The rows of a table, filled in some way. They are mapped twice, in two orders, because an
        object that changes its mind is no space.

    Attributes
    ----------
    n_features : int
        The length of the vectors that it takes.
    n_columns : int
        The number of trees, or the length of the vectors that it makes of them.
    is_leaves : bool
        Whether it makes leaves, among which distance is the number of trees that tell two apart.
    digest : str
        The same for objects that make the same of the rows of the table.

    Notes
    -----
    Vectors are rounded to 2**-32 of the power of two above the largest number that their column has
    in the table. Numbers on a coarser grid stay as they are, so that ties stay ties.
    """

    def __init__(self, fitted: Any, rows: RawRows | None, vectors: Floats) -> None:
        self.fitted, self.rows = fitted, rows
        self.n_features = vectors.shape[1]
        self.is_leaves = makes_leaves(fitted)
        self.n_columns: int | None = None
        self._step: Floats | None = None
        once = self._answer(vectors)
        self.n_columns = once.shape[1]
        if not self.is_leaves:
            largest = np.abs(once).max(axis=0)
            self._step = _STEP * 2.0 ** np.ceil(np.log2(np.where(largest > 0, largest, 1.0)))
        again = self._answer(vectors[::-1])[::-1]
        apart = _ALIKE * self._step if self._step is not None else 0.0
        self._check_alike(once, again, apart)
        found = hashlib.sha256(f"{self.is_leaves} {self.n_features}\n".encode())
        found.update(self._rounded(once).astype("<f8").tobytes())
        self.digest = found.hexdigest()

    def mapped(self, vectors: Floats) -> Floats:
        """What the object makes of filled vectors, shape (n, n_columns); leaves as numbers."""
        assert self.n_columns is not None
        found = np.empty((len(vectors), self.n_columns))
        step = max(1, _BLOCK // max(self.n_features, self.n_columns))
        for at in range(0, len(vectors), step):
            found[at : at + step] = self._rounded(self._answer(vectors[at : at + step]))
        return found

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        raise TableError(
            f"a table in the space of {self.name} cannot be saved: a fitted object is code, and "
            "nothing is known about it but what it makes of rows. Tables in the plain space can "
            'be, and so can those among the leaves of trees: space="forest", or a fitted forest '
            "of scikit-learn itself, without a pipeline around it.",
            field="space",
        )

    @property
    def name(self) -> str:
        return f"a fitted {type(self.fitted).__name__}"

    def __repr__(self) -> str:
        made = "leaves in {} trees" if self.is_leaves else "vectors of {} numbers"
        return f"FittedMap({type(self.fitted).__name__}, {made.format(self.n_columns)})"

    # -- one call ------------------------------------------------------------------------------

    def _answer(self, vectors: Floats) -> Floats:
        """What the object returns for some rows, checked."""
        if not len(vectors):
            return np.zeros((0, self.n_columns or 0))
        rows = vectors.copy() if self.rows is None else self.rows.of_vectors(vectors)
        answer = self._as_numbers(self._called(rows))
        if answer.ndim == 1 and self.is_leaves:  # a single tree
            answer = answer[:, None]
        if answer.ndim == 3 and self.is_leaves:  # gradient boosting: a tree per round and class
            answer = answer.reshape(len(answer), -1)
        if answer.ndim != 2 or len(answer) != len(vectors) or not answer.shape[1]:
            raise self._wrong(
                f"must return one row per row that it is given, {len(vectors)} here, each with at "
                f"least one number; got shape {answer.shape}"
            )
        if self.n_columns is not None and answer.shape[1] != self.n_columns:
            what = "trees" if self.is_leaves else "columns"
            raise self._wrong(
                f"must return the same number of {what} every time; it was {self.n_columns}, and "
                f"now is {answer.shape[1]}"
            )
        bad = ~np.isfinite(answer).all(axis=1)
        if bad.any():
            rows = vectors[bad][:3].tolist()
            raise self._wrong(
                f"must return finite numbers; got NaN or infinity for {int(bad.sum())} of "
                f"{len(vectors)} rows, such as {offenders(rows, 1)}"
            )
        if self.is_leaves and ((answer != np.floor(answer)) | (np.abs(answer) > _LARGEST)).any():
            raise self._wrong("must return whole numbers, the leaf of each row in every tree")
        return answer

    def _called(self, rows: Any) -> Any:
        try:
            if hasattr(self.fitted, "apply"):
                return self.fitted.apply(rows)
            if self.is_leaves:
                first = self.fitted[:-1]
                return _last(self.fitted).apply(first.transform(rows) if len(first) else rows)
            return self.fitted.transform(rows)
        except Exception as problem:  # an object of any kind, with errors of any kind
            if not _was_never_fitted(self.fitted, problem):
                raise TableError(
                    f"{self.name} cannot map the filled rows of this table: "
                    f"{type(problem).__name__}: {str(problem).rstrip('. ')}.",
                    "It must take every candidate: an encoder needs handle_unknown, or the table "
                    'repairs="observed".',
                    field="space",
                ) from problem
            raise TableError(
                f"space must be a fitted object; this {type(self.fitted).__name__} is not fitted. "
                "Fit it on filled rows of the same columns first; in estimators that scikit-learn "
                "clones, put it into a FrozenEstimator.",
                field="space",
            ) from problem

    def _as_numbers(self, given: Any) -> Floats:
        if hasattr(given, "toarray"):
            if given.shape[1] > _WIDEST:
                raise self._wrong(
                    f"must return dense vectors, or sparse ones of at most {_WIDEST:,} columns; "
                    f"got {given.shape[1]:,}. Put TruncatedSVD behind it"
                )
            given = given.toarray()
        try:
            answer = np.asarray(given)
            if answer.dtype.kind not in "fiub" and answer.dtype != object:
                raise TypeError(f"got {answer.dtype}")
            return np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise self._wrong(f"must return an array of numbers; {problem}") from problem

    def _rounded(self, answer: Floats) -> Floats:
        if self._step is None:
            return answer
        # 0.0 is added because -0.0 is the same number, but not the same bytes.
        return np.asarray(np.round(answer / self._step) * self._step + 0.0)

    def _check_alike(self, once: Floats, again: Floats, apart: Floats | float) -> None:
        (rows,) = np.nonzero((np.abs(once - again) > apart).any(axis=1))
        if len(rows):
            row = int(rows[0])
            raise TableError(
                f"{self.name} must return the same for a row every time, whichever rows are with "
                f"it; for row {offenders(rows.tolist())} it changed its mind: "
                f"{_few(once[row])}, then {_few(again[row])}.",
                "Nothing can be proved about the worlds of such a space; fix its random state.",
                field="space",
                rows=rows.tolist(),
            )

    def _wrong(self, what: str) -> TableError:
        return TableError(
            f"{'apply' if self.is_leaves else 'transform'} of {self.name} {what}.", field="space"
        )


def _few(numbers: Floats) -> str:
    return np.array2string(numbers, precision=6, threshold=4, edgeitems=2)


def _was_never_fitted(fitted: Any, problem: Exception) -> bool:
    """Whether that is why it failed; some versions of scikit-learn find other words for it."""
    from sklearn.exceptions import NotFittedError  # slow to load, and seldom needed
    from sklearn.utils.validation import check_is_fitted

    if isinstance(problem, NotFittedError):
        return True
    try:
        check_is_fitted(fitted)
    except NotFittedError:
        return True
    except Exception:  # no estimator of scikit-learn, or one of an unusual kind
        return False
    return False
