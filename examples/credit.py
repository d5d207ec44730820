"""Which applications for credit are worth a phone call? A table with real missing values.

    python examples/credit.py --data-dir ../shared/data
    python examples/credit.py --data-dir ../shared/data --sample 300

CreditData has 4,454 applications with 14 columns, numbers and categories. Incomes, assets, debts
and some categories are really missing. Nobody knows the truth, so nothing is simulated: the script
ends with a list of rows to look up, and the reasons.
"""

# %% The table
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from cpclean import CertainKNeighborsClassifier, CleaningSession, IncompleteTable, read_csv

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("--data-dir", type=Path, default=Path("../shared/data"))
options.add_argument("--sample", type=int, metavar="N", help="use only N applications")
options.add_argument("--top", type=int, default=5, help="how many rows to name")
options.add_argument("--seed", type=int, default=0)
given = options.parse_args()

file = given.data_dir / "tables/CreditData/data.csv"
if not file.is_file():
    sys.exit(f"there is no {file}; name the folder that contains tables/ with --data-dir.")
credit = read_csv(file).drop(columns="rownames")  # a row number says nothing about credit
credit = credit[credit["Status"].notna()]
credit = credit.sample(n=given.sample, frac=None if given.sample else 1, random_state=given.seed)
credit = credit.reset_index(drop=True)

# %% Some complete rows to validate with, the rest to learn from
complete = np.flatnonzero(credit.notna().all(axis=1))
held = complete[: len(credit) // 5]
val = credit.iloc[held]
train = credit.drop(index=held).reset_index(drop=True)

# A small training sample may lack some categories, so take them from the whole table.
texts = credit.drop(columns="Status").select_dtypes(exclude="number")
known = {name: sorted(texts[name].dropna().unique()) for name in texts}
table = IncompleteTable(train, label="Status", categories=known)
print(table)
for column in table.report:
    if column.holes:
        print(f"  {column.name}: {column.holes} holes ({column.kind})")

# %% How certain are the predictions, and how good?
model = CertainKNeighborsClassifier(n_neighbors=5).fit(table)
certain = model.is_certain(val)
right = model.predict(val) == val["Status"].to_numpy()
print(f"{certain.mean():.1%} of {len(val)} predictions are certain")
print(f"right where certain: {right[certain].mean():.1%} of {certain.sum()}")
if not certain.all():
    print(f"right elsewhere: {right[~certain].mean():.1%} of {(~certain).sum()}")

# %% Who to call first
session = CleaningSession(table, val, n_neighbors=5)
for question in session.ask(given.top):
    holes = [name for name, value in table.row(question.row).items() if value is None]
    likeliest = question.candidates[int(np.argmax(question.prior))]
    print(
        f"row {question.row}: ask for {', '.join(holes)} (our guess: {likeliest}); "
        f"uncertain predictions that may depend on it: {len(question.why.points)}"
    )
