"""Queries: what all worlds of an incomplete dataset predict, computed exactly.

    certain, shares, gains     the public queries: is_certain, world_shares, expected_entropies, ...
    model, look                the model to ask about; what looking at points finds
    geometry, gather, blocks   checks, metrics, and which rows are near a point
    prepared, kernel_arrays    what is computed once per dataset; the arrays that kernels read
    cell_gains, residues       gains of single cells; exact counts out of prime fields
    sound                      bounds for points with too many completions
    _near, _order, _extremes, _minmax, _race, _tally, _cells    the compiled kernels
    reference                  the paper's algorithms in plain Python, to read and to compare with

The pages in docs/how explain the algorithms.
"""
