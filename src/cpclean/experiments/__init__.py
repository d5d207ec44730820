"""Experiments: the paper's tables and figures, measured again.

    paper, compare_priors, orders, validation   one table or figure each
    models, model_runs, model_cases             models compared: ours, and what people fit instead
    sure                                        how often a sure label is what the truth gives
    enough, until_settled, calibration          how little cleaning is enough until points are sure
    objectives, told_tables, sure_tables        what orders go by; true values told; their tables
    space_choices, space_variants, refits       the choices behind the forest space
    all_spaces, spaces, space_files             the published datasets
    fresh, inject                               tables with injected holes
    measures, markdown                          accuracies and gaps; tables of results
    few_rows, durations                         a data folder in small; how long measuring takes
    jobs, store                                 long runs in several processes, saved cell by cell

`cpclean reproduce` runs them.
"""
