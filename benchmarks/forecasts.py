"""How often the forecast of the page is right: its range of answers against what then happens.

``python -m benchmarks.forecasts [--data-dir FOLDER] [--sessions N] [--first SEED]`` simulates
sessions as the page runs them, over other points each time, and prints how often the number of
answers until all points are certain, or 0.95 sure, was in the range that was forecast: at the
start, and after a third of the answers. Answers come from the truth (the candidate that is nearest
to it), not from the prior.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import numpy as np

from cpclean import CleaningSession
from cpclean.analysis.forecast import expected
from cpclean.cleaning.settings import usual_gains_by, usual_strategy
from cpclean.cleaning.simulation import simulate
from cpclean.experiments.all_spaces import GENERATED, QUICK
from cpclean.experiments.fresh import fresh_space, generated_table
from cpclean.experiments.spaces import PUBLISHED, Space, load_space
from cpclean.web.desk.engine import RUNS

N_POINTS = 30


def cases(folder: Path | None, seeds: range) -> Iterator[tuple[str, int, Space]]:
    """Tables, seeds and spaces: generated ones, and published ones if their folder is there."""
    for name in GENERATED:
        for seed in seeds:
            yield name, seed, fresh_space(generated_table(name), "important", seed, QUICK)
    for name in ("Supreme", "Bank") if folder is not None else ():
        space = load_space(folder / "spaces" / name / PUBLISHED[name])
        for seed in seeds:
            yield name, seed, space


def session_of(space: Space, seed: int, sure: float | None) -> CleaningSession:
    """A session as the page has it, over some of the points."""
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(len(space.X_val))[:N_POINTS])
    return CleaningSession(
        space.table.dataset, space.X_val[chosen], 3, usual_strategy(sure), sure=sure,
        random_state=seed, gains_by=usual_gains_by(sure),
    )  # fmt: skip


def outcome(space: Space, seed: int, sure: float | None) -> list[tuple[int, int, int]]:
    """The range and what happened, at the start and after a third of the answers."""
    session = session_of(space, seed, sure)
    whole = copy(session)
    total = len(simulate(whole, space.truth, progress=False))
    found = []
    for at in sorted({0, total // 3}):
        begun = copy(session)
        simulate(begun, space.truth, budget=at, progress=False) if at else None
        more = expected(begun, RUNS, 400, seconds=np.inf, random_state=at).more()
        if more is not None and total > at:
            found.append((*more, total - at))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first session")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.sessions)
    seen: dict[tuple[str, float | None], list[tuple[int, int, int]]] = {}
    for name, seed, space in cases(given.data_dir, seeds):
        for sure in (None, 0.95):
            seen.setdefault((name, sure), []).extend(outcome(space, seed, sure))
        if seed == seeds[-1]:
            for sure in (None, 0.95):
                print(_line(name, sure, seen[name, sure]), flush=True)
    hits = [low <= took <= high for found in seen.values() for low, high, took in found]
    print(f"in all {sum(hits)} of {len(hits)}: {np.mean(hits):.1%}")


def _line(name: str, sure: float | None, found: list[tuple[int, int, int]]) -> str:
    hits = [low <= took <= high for low, high, took in found]
    widths = [(high - low) / took for low, high, took in found]
    until = "certain" if sure is None else f"{sure} sure"
    return (
        f"{name:>10}, until {until:9}: {sum(hits)} of {len(hits)} in the range, whose width is "
        f"{np.median(widths):.0%} of the answers (median)"
    )


if __name__ == "__main__":
    main()
