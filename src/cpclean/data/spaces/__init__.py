"""Spaces: from filled rows to where distances are measured.

    table_space            what a table needs of any space
    features, plain        how one column is encoded; scaled columns side by side
    trees, _tree_kernels   trees as plain arrays: the leaf of a row in each of them
    tree_features          columns as trees look at them: numbers as they are, categories coded
    tree_arrays            the arrays of trees, checked, and read from fitted forests
    world_rows, learning   rows of worlds; forests learnt from worlds, and trees of random splits
    leaf_space             leaves as the space of a table: a user's choice, and what it needs
    filled_space           what a dataset needs of a space
    fitted_space           a fitted object as the space of a table, or any other choice of a user
    fitted_map, raw_rows   what it makes of filled rows; from vectors to such rows

A space is a fixed map: whatever is proved about worlds is proved given the space.
"""
