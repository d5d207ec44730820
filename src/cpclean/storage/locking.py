"""A lock on an open file that ends with the process, however it ends.

Not with the filelock package, because a journal can be read while another process writes it:

* `filelock.lock_descriptor` locks the first byte of the file, and Windows keeps other processes
  from reading what is locked. There, a journal in use could not be read or copied.
* `filelock.FileLock` locks a second file beside the journal. The journal itself would be open to
  other names of the same file (links) and to older versions of cpclean, which lock the journal; and
  the second file would stay behind.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os

    # Other processes cannot read what is locked, so the lock is on a byte far behind the text.
    _FAR = 2**31 - 2

    def lock(file: int) -> bool:
        """Lock a file for this process; False if another one has locked it."""
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
        """Lock a file for this process; False if another one has locked it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
