"""Work that other machines do: the same pieces as here, put together in the same order.

    held           a value that workers know by name, and how it came about
    worker_tasks   what runs on a worker, and the values that it keeps
    dask_cluster   the only module that knows Dask: submit, wait, and what can go wrong
    hands          who does the work: threads of this process, or a cluster

This room knows nothing about rows or points. A piece of work is a function of a value and of some
arrays; what it returns depends on these alone. So it does not matter which worker does it, how many
of them there are, or how often one of them has to begin again.
"""
