"""What only some operating systems, or versions of libraries, have."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

import pytest

needs_posix = pytest.mark.skipif(
    os.name != "posix", reason="Windows has no such signals, limits or terminals"
)
# Text columns are of another dtype in pandas 2, and what is saved of a frame has other bytes.
needs_pandas_3 = pytest.mark.skipif(
    int(version("pandas").split(".")[0]) < 3, reason="what it compares with was saved by pandas 3"
)


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """While in it, no file of this process can grow beyond so many bytes; needs POSIX."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
