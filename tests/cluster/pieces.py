"""Pieces of work that workers can import: they say that they have begun, and take their time."""

import os
import sys
import time
from pathlib import Path

import numpy as np


def plus(value, numbers, n_jobs=None):
    """One result for every number."""
    return [value + int(number) for number in numbers]


def grown(value, by):
    return value + by


def slowly(value, numbers, n_jobs=None):
    """As `plus`: leaves a file that says who has begun, and waits for one to go on."""
    folder, total = value
    name = f"{int(numbers[0])}"
    (Path(folder) / f"begun-{name}-{os.getpid()}").touch()
    while not (Path(folder) / "go").exists():
        time.sleep(0.02)
    return [total + int(number) for number in numbers]


def wrong(value, numbers, n_jobs=None):
    raise ValueError(f"no answer about {np.asarray(numbers).tolist()}")


def with_first(value, number):
    return np.concatenate([[number], value[1:]])


def firsts(value, numbers, n_jobs=None):
    return [float(value[0])] * len(numbers)


def n_compiled():
    """How often this process has compiled a kernel, or loaded what was compiled."""
    from numba.core.dispatcher import Dispatcher

    modules = [one for name, one in list(sys.modules.items()) if name.startswith("cpclean.")]
    kernels = {id(one): one for module in modules for one in vars(module).values()}
    return sum(len(one.overloads) for one in kernels.values() if isinstance(one, Dispatcher))
