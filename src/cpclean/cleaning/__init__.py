"""Cleaning: which row to ask about next, what an answer changes, and when to stop.

    session, session_looks  CleaningSession: asking and answering; what it shows of itself
    streamed_session       the same over files, of which the rows that matter are gathered
    view                   all that other rooms read of a session
    notebook_view          a session and a question as notebooks show them
    widget, asked_fields   questions that are answered inside a notebook
    question, costs        a question and its reasons; all questions, and what they cost
    strategies, settings   which question comes first; when to stop
    answers, state         the log of answers; what is known after them
    earlier, resuming      back to an earlier state, a space learnt anew; a long log at once
    subject, known_cells   raw values of a table or vectors of a dataset, to and from the space
    known, row_candidates  what is known about a row; what it can still be, cell by cell
    board, point_gains     the validation points after every answer, and their gains, one by one
    vector_facts           what a board has found out about each vector, shared between boards
    once                   what is worked out when first asked for, and kept
    basis, footing         what a board stands on; the questions, as a value that can be sent
    kept_query             a question that is kept while rows become known
    standing               whether rows gathered from files are still enough
    ground, gathered       all rows and what is known of them; those near the points, in their place
    effort, hindsight      which answers had to be; what would be settled without some of them
    every_order            how many rows no order can do without
    simulation, truth      answers from known true values, in place of a person

Other rooms look at a session through its view only.
"""
