"""HoloClean's imputation: candidates of holes and how likely each is.

1. `counts`: values as categories, how often they and their pairs stand in one row.
2. `holo_model`: which values a hole may have (its domain), and a softmax over them, learnt from the
   observed cells.
3. `cell_values`: what the model says about the holes of a table: candidates, repairs, weights.
4. `other_rows`: what it says about rows that it was not learnt from.
"""
