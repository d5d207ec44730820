"""Queries: what all worlds of an incomplete dataset predict, computed exactly.

    certain, shares, gains     the public queries: is_certain, world_shares, expected_entropies, ...
    asked_tables               the same about tables, with points in frames
    sureness                   is_sure and verdicts: what is certain, what is sure, what is open
    model, look                the model to ask about; what looking at points finds
    geometry, gather           checks of a question; all rows that points depend on
    near_scan                  the same in a table of files, piece by piece
    row_shards                 the same in a large table on a cluster, rows divided among workers
    query, plain_query         a checked question, answered in blocks; about vectors and metrics
    leaf_query, leaf_rows      the same about leaves of trees; what that needs of a dataset
    leaf_memory                what a kept question remembers among leaves
    mapped_query, mapped_rows  the same about rows that a fitted object maps
    blocks                     rows in blocks of neighbours
    prepared, kernel_arrays    what is computed once per dataset; the arrays that kernels read
    magnitudes                 numbers that are too large or too small for distances
    gain_lists, _gain_lists    gains that are kept, a list for every point; kernels over them
    cell_gains, residues       gains of single cells; exact counts out of prime fields
    sound                      bounds for points with too many completions
    _near, _order, _extremes, _leaves, _minmax, _race, _tally, _cells    the compiled kernels
    _race_tree, _race_walk     two ways to what _race says: for few votes, and for many
    _leaf_order, _leaf_lists   kernels of leaves: positions; lists, and what several of these need
    _put_row, _looking         what differs in one row; what is between the kernels of a look
    _alike, _bits, _squares    shared sums, columns of two values, bounds of squares;
                               all compiled into _near
    kernel_kinds               kernels, and parts of them
    kernel_compiler            how they are compiled
    _terms                     what distances are sums of, compiled into several of these
    reference                  the paper's algorithms in plain Python, to read and to compare with

The pages in docs/how explain the algorithms.
"""
