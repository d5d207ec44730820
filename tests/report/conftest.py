"""The small session of `analysis`, which reports are drawn from."""

from analysis.conftest import session, tables

__all__ = ["session", "tables"]
