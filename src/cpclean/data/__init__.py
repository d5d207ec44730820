"""Data: from a dataframe with holes to an incomplete dataset.

    frames, column_reading, columns    dataframes of any library become columns with kinds
    nulls, moments, coding, values     missing values, dates, distinct values, cells in words
    units                              units in the names of columns
    labels, suspects, decisions        labels; cells that are doubted; what is decided about columns
    failed_checks                      cells that failed a check of pandera, as suspects
    repairs, column_values, table_versions, proposals    the candidates of holes
    completed_frames                   frames that others completed, as candidates
    priors, cell_priors                how likely each candidate is
    spaces/, encoded_rows              from values to vectors
    holoclean/                         candidates and priors from the other cells of a row
    domains                            files that list the candidates of cells
    exact_mean, ranks                  means and quartiles, the same however columns are split
    table, table_parts, row_options, column_report    IncompleteTable: the table as people see it
    streamed/, whole_facts             StreamedTable: the same of files larger than memory
    row_counts                         how many rows are what, also if some of them are elsewhere
    row_order                          the rows of a table in another order
    incomplete, stored_rows, row_arrays            IncompleteDataset: all rows
    rows, given_rows, ragged           one row, cells, candidates, what users give
    between, rough_ranges              ranges: values that are known only roughly
    threads                            compiled work in threads
    drawing, large_counts              draws in place of rows with many holes; numbers in words
    session_drawing                    how many completions of its points a session goes through
    combinations                       candidates of rows with many holes, never all of them
    points, completions                encoded points, and what their holes can be
    other_frames, task                 points as a frame; a table and its points as one value

`cpclean.intake` makes tasks out of files.
"""
