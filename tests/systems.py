"""What only some operating systems have."""

import os

import pytest

needs_posix = pytest.mark.skipif(
    os.name != "posix", reason="Windows has no such signals, limits or terminals"
)
