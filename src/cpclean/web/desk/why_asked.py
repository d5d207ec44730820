"""Why a row is asked about, in words for people who answer."""

from __future__ import annotations

from cpclean.analysis.words import count
from cpclean.web.desk.views import ProgressView, QuestionView


def why(question: QuestionView, progress: ProgressView, best: bool = True) -> str:
    """Why this row is asked about, in a sentence or two; only what is known by now.

    Parameters
    ----------
    question : QuestionView
    progress : ProgressView
    best : bool
        Whether it is the best one that is free, rather than one that somebody has chosen.
    """
    open_, points = progress.points - progress.settled, progress.points
    said = f"{open_:,} of {count(points, 'prediction')} could still change"
    if points == 1:
        said = "The prediction could still change" if open_ else "The prediction is settled"
    n_near = min(question.near, open_)  # it may have been counted a moment earlier
    if not n_near:
        none = "It does not depend" if points == 1 else "None of them depends"
        return f"{said}. {none} on this row any more, but your answer is welcome."
    known = [one for one in question.candidates if one.settles is not None]
    mass = sum(one.prior for one in known)
    near = f"{n_near:,} of them {'depends' if n_near == 1 else 'depend'} on this row"
    near = "it depends on this row" if points == 1 else near
    one_of, them = ("it", "it") if points == 1 else ("one of them", "them")
    if not mass:
        more = f", and no other free row is expected to tell more about {them}" if best else ""
        return f"{said}; {near}{more}."
    mean = sum(one.prior * (one.settles or 0) for one in known) / mass
    if not any(one.settles for one in known):
        return f"{said}; {near}. No single answer settles {one_of}, but each narrows {them} down."
    if mean < 1:
        return f"{said}; {near}, and this answer may settle {one_of}."
    if points == 1:
        return f"{said}; this answer should settle it."
    return f"{said}; this answer should settle about {min(round(mean), open_):,} of them."
