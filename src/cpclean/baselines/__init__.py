"""Baselines: what people do instead of cleaning the rows that matter most.

    estimator, source               what all baselines have in common
    worlds, filling                 one complete table: the truth, means, any imputer
    nan_neighbors                   nearest neighbours that ignore missing values
    boostclean, versions            BoostClean, and the repairs it chooses from
    holoclean_fill                  HoloClean's imputation
    activeclean, softmax, batches   ActiveClean, its model, and its draws
    random_clean, curves            rows in random order; what is measured along the way
    ground_truth                    what a person who knows the truth would answer
    rivals                          other models: gradient boosting, forests, k-NN after imputers

All of them are scikit-learn estimators.
"""
