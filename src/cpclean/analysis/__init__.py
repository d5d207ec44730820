"""What it means: facts, advice, reasons, rankings and forecasts.

    headline                  do the holes matter? In one sentence, which comes first
    summary, advice           does missingness matter, and what to do about it
    next_step                 the cheapest thing to do next
    missing, column_effects   where the holes are, and which columns matter
    column_fills              a column filled with values drawn from the prior
    predictions               how certain, how open and how right
    beside                    how accurate other models are on the same rows
    certain_words             how far a session is, where points have holes and where not
    fill_words                where the values of a table without holes come from
    draw_errors               how far shares are off where rows are drawn
    ranking, reasons          what to clean first, and why
    forecast, course_words    how it is expected to go on
    effort_words              what the answers were good for
    random_order              what a random order would have cleaned for the same
    new_points                how many points that were not looked at are settled, too
    looking_back              what the answers were good for, and how new rows would fare
    verdict_course            how the shares of certain and sure predictions came about
    verdict, findings         all of it together, as a report says it
    trust, trust_words        trials on complete rows, with holes as the table has them
    hole_pattern, trial_rows  these holes; the rows of one trial
    trial_run                 what is measured in it
    space_words               the space in which distances are measured
    open_cells, words         what a cell can hold; numbers and values as people read them

Nothing here draws; see `cpclean.report`.
"""
