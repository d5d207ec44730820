"""What it means: facts, advice, reasons, rankings and forecasts.

    summary, advice           does missingness matter, and what to do about it
    missing, column_effects   where the holes are, and which columns matter
    predictions               how certain, how open and how right
    certain_words             how far a session is, where points have holes and where not
    draw_errors               how far shares are off where rows are drawn
    ranking, reasons          what to clean first, and why
    forecast, course_words    how it is expected to go on
    verdict, findings         all of it together, as a report says it
    open_cells, words         what a cell can hold; numbers and values as people read them

Nothing here draws; see `cpclean.report`.
"""
