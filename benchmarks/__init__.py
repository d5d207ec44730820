"""How fast, how small and how right cpclean is, measured in one run: ``python -m benchmarks``.

spaces.py     the authors' published spaces, or generated ones of the same shape (generated.py)
measure.py    CPU and wall time of calls that take turns; fresh processes
agreement.py  checks of every answer against exact counts, pinned data and the paper's algorithms
report.py     the one table, for a terminal, a log file or a README; machine.py says where it ran

speed.py      queries against scikit-learn's neighbour search over all candidates
counting.py   exact counts, and all conditionals against the paper's SS-DC run anew for each
scale.py      peak memory, and what doubling the number of rows costs
startup.py    the first call in a new process
classes.py    a hundred classes
tables.py     a table of mixed types against a pipeline of scikit-learn
holes.py      rows with many holes, and points with holes
hole_choices.py  how many draws, exact up to where, five values of a hole or all observed ones
cleaning.py   sessions: an answer and the next question
serving.py    the same over HTTP, by ten and by fifty people at once

Targets are reported; only a failed agreement check makes the run fail.
"""
