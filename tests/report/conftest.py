"""The small session of `analysis`, which reports are drawn from."""

from analysis.conftest import session, small_forests, tables

__all__ = ["session", "small_forests", "tables"]
