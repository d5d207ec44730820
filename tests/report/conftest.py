"""The small session of `analysis`, which reports are drawn from."""

from analysis.conftest import session, slow_clock, small_forests, tables

__all__ = ["session", "slow_clock", "small_forests", "tables"]
