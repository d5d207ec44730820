"""Nothing but small forests."""

from forests import small_forests

__all__ = ["small_forests"]
