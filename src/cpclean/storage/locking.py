"""A lock on an open file that ends with the process, however it ends."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os

    # Windows keeps others from reading what is locked, so a byte far behind the text is.
    _FAR = 2**31 - 2

    def lock(file: int) -> bool:
        """Lock a file for this process; False if another one has it."""
        os.lseek(file, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(file, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def lock(file: int) -> bool:
        """Lock a file for this process; False if another one has it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
