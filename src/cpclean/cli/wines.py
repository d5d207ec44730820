"""The table of the demo: wines from scikit-learn, with holes whose true values are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cpclean.cleaning.session import CleaningSession
    from cpclean.data.table import IncompleteTable

COLUMNS = {
    "alcohol": "alcohol",
    "malic_acid": "malic acid",
    "magnesium": "magnesium",
    "flavanoids": "flavanoids",
    "color_intensity": "colour",
    "proline": "proline",
}
CULTIVARS = ("A", "B", "C")
LABEL = "cultivar"
# How often each laboratory analysis is skipped on average: twice as often for the palest wine,
# never for the darkest. Magnesium is forgotten now and then, for any wine.
SKIPPED = 0.4
FORGOTTEN = 0.12
BLOTTED = 0.08  # how often a missing value cannot be read on paper either


@dataclass(frozen=True)
class Wines:
    """Wines to learn from, with holes; their true values; and wines to predict."""

    table: IncompleteTable
    truth: Any  # a frame
    points: Any  # a frame
    labels: NDArray[Any]  # of the points
    n_skipped: int  # cells that the laboratory skipped

    def session(
        self, n_neighbors: int, strategy: str = "cpclean", seed: int = 0
    ) -> CleaningSession:
        """A session over the wines to predict."""
        from cpclean.cleaning.session import CleaningSession

        return CleaningSession(self.table, self.points, n_neighbors, strategy, self.labels, seed)

    def records(self, seed: int) -> dict[str, dict[str, str]]:
        """The paper record of every wine with holes, by row: some analyses cannot be read."""
        import numpy as np

        rng = np.random.default_rng([seed, 1])
        found = {}
        for row in np.flatnonzero(self.table.holes.any(axis=1)).tolist():
            lines = {"bottle": f"no. {1000 + row}"}
            for name, hole in zip(self.table.names, self.table.holes[row], strict=True):
                blotted = hole and rng.random() < BLOTTED
                value = self.truth[name].iloc[row]
                lines[name] = "(an ink blot)" if blotted else f"{value:g}"
            found[str(row)] = lines
        return found


def wines(seed: int, space: str = "plain") -> Wines:
    """Two thirds of 178 wines to learn from; the laboratory skipped analyses of pale ones."""
    import numpy as np
    from sklearn.datasets import load_wine

    from cpclean.data.table import IncompleteTable

    bunch = load_wine(as_frame=True)
    frame = bunch.data[list(COLUMNS)].rename(columns=COLUMNS)
    cultivar = np.array(CULTIVARS)[bunch.target.to_numpy()]
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(frame))
    held, rest = order[: len(frame) // 3], order[len(frame) // 3 :]
    truth = frame.iloc[rest].reset_index(drop=True)
    holes = _holes(truth, rng)
    dirty = truth.mask(holes).assign(**{LABEL: cultivar[rest]})
    return Wines(
        IncompleteTable(dirty, label=LABEL, space=space),
        truth,
        frame.iloc[held].reset_index(drop=True),
        cultivar[held],
        int(holes[:, [3, 5]].sum()),
    )


def _holes(truth: Any, rng: np.random.Generator) -> NDArray[np.bool_]:
    import numpy as np

    pale = 1 - truth["colour"].rank(pct=True).to_numpy()
    holes = np.zeros(truth.shape, dtype=bool)
    for name in ("flavanoids", "proline"):
        holes[:, truth.columns.get_loc(name)] = rng.random(len(truth)) < 2 * SKIPPED * pale
    holes[:, truth.columns.get_loc("magnesium")] = rng.random(len(truth)) < FORGOTTEN
    return holes
