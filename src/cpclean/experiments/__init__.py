"""Experiments: the paper's tables and figures, measured again.

    paper, compare_priors, orders, validation   one table or figure each
    all_spaces, spaces, fresh, inject           the datasets: published, or with injected holes
    measures, markdown                          accuracies and gaps; tables of results
    jobs, store                                 long runs in several processes, saved cell by cell

`cpclean reproduce` runs them.
"""
