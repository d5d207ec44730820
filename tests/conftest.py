"""Settings shared by all tests."""

import os

from hypothesis import settings

# No deadline: the first example of a test may compile a kernel.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
