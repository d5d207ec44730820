"""A frame with holes, a metric of one's own, and everything that a session shows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cpclean import CleaningSession


def seen(session: CleaningSession) -> tuple[object, ...]:
    """Everything that a session shows, to see whether it is unchanged."""
    question = session.ask()
    return (
        session.answers,
        session.history,
        session.certain.tolist(),
        session.mean_entropy,
        session.gains().tolist(),
        session.data.n_worlds,
        session.stopped,
        question and (question.row, question.column, question.candidates, question.gain),
    )


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [18.0, None, 65.0, 40.0, None],
            "city": ["A", "B", None, "A", "B"],
            "buys": ["no", "yes", "yes", "no", "yes"],
        }
    )


def weighed(x: np.ndarray, t: np.ndarray) -> float:
    return float(
        sum((place + 1) * abs(a - b) for place, (a, b) in enumerate(zip(x, t, strict=True)))
    )
