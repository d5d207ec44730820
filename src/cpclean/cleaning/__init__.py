"""Cleaning: which row to ask about next, what an answer changes, and when to stop.

    session, view          CleaningSession; all that other rooms read of it
    question, costs        a question and its reasons; all questions, and what they cost
    strategies, settings   which question comes first; when to stop
    answers, state         the log of answers; what is known after them
    subject, known_cells   raw values of a table or vectors of a dataset, to and from the space
    known, row_candidates  what is known about a row; what it can still be, cell by cell
    board                  the validation points, updated after every answer
    simulation, truth      answers from known true values, in place of a person

Other rooms look at a session through its view only.
"""
