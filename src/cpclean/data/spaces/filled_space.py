"""What a dataset needs of a space: a fixed map from filled vectors to where distances are measured.

`trees.Trees` is one, whose leaves are known for all candidates of a row without going through them.
`fitted_map.FittedMap` is one that nothing is known about but what it makes of the rows it is given.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt


class FilledSpace(Protocol):
    """A fixed map of vectors of `n_features` numbers.

    Attributes
    ----------
    n_features : int
        The length of the vectors that it takes.
    digest : str
        The same for maps that are the same.
    """

    @property
    def n_features(self) -> int: ...
    @property
    def digest(self) -> str: ...

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that it consists of, to be stored; refused where that is not known."""
        ...
