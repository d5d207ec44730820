"""What the order of cleaning is worth, on scikit-learn's table of breast tumours.

    python examples/tumours.py
    python examples/tumours.py --sample 200 --budget 10

High measurements are hidden more often than low ones, which happens in practice and is hard for
every method that learns from the observed values. The truth is known here, so a simulated person
can answer, and we can see how often each method predicts the same as the true table.
"""

# %% The table, and holes in it
from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from cpclean import CertainKNeighborsClassifier, CleaningSession, IncompleteTable, simulate

COLUMNS = ["mean radius", "mean texture", "mean smoothness", "mean concavity"]
LABEL = "diagnosis"

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("--sample", type=int, metavar="N", help="use only N tumours")
options.add_argument("--budget", type=int, default=30, help="how many questions the person answers")
options.add_argument("--seed", type=int, default=0)
given = options.parse_args()

bunch = load_breast_cancer(as_frame=True)
tumours = bunch.data[COLUMNS].assign(**{LABEL: bunch.target_names[bunch.target]})
tumours = tumours.sample(n=given.sample, frac=None if given.sample else 1, random_state=given.seed)
tumours = tumours.reset_index(drop=True)

half, rest = len(tumours) // 2, len(tumours) * 3 // 4
truth, val, test = tumours[:half], tumours[half:rest], tumours[rest:]

rng = np.random.default_rng(given.seed)
train = truth.copy()
for column in COLUMNS:
    place = truth[column].rank(pct=True)  # 0 for the lowest, 1 for the highest
    train.loc[rng.random(len(train)) < 0.2 * place, column] = None

# %% How much depends on the holes?
table = IncompleteTable(train, label=LABEL)
print(table)


def fitted(frame: pd.DataFrame) -> CertainKNeighborsClassifier:
    """Three nearest neighbours over all worlds of a table; one world if it has no holes."""
    return CertainKNeighborsClassifier(n_neighbors=3).fit(IncompleteTable(frame, label=LABEL))


before = fitted(train)
print(f"certain before any cleaning: {before.is_certain(test).mean():.1%} of the test points")

# %% Without any answers: column means instead of holes, or a vote over all worlds
models = {
    "means instead of holes": fitted(train.fillna(train[COLUMNS].mean())),
    "vote over worlds": before,
}

# %% With answers, in two orders
for strategy in ("random", "cpclean"):
    session = CleaningSession(
        table, val, n_neighbors=3, strategy=strategy, random_state=given.seed, budget=given.budget
    )
    simulate(session, truth, exact=True, progress=False)
    models[f"vote after {len(session.history)} answers, {strategy} order"] = session.classifier()
    print(
        f"{strategy}: {len(session.history)} answers, {session.certain_share:.1%} of the "
        f"validation points are certain ({session.stopped})"
    )

# %% All of them compared, on test points that have not been used so far
models["the true table"] = fitted(truth)
predicted = {name: model.predict(test) for name, model in models.items()}
right = test[LABEL].to_numpy()
result = pd.DataFrame(
    {
        name: {
            "certain": models[name].is_certain(test).mean(),
            "as the true table": np.mean(labels == predicted["the true table"]),
            "right": np.mean(labels == right),
        }
        for name, labels in predicted.items()
    }
).T
print(result.round(3).to_string())
