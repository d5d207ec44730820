"""Many parts in one string of bytes: JSON for plain values, NumPy's own format for arrays.

The bytes are a compressed .npz archive whose entry "plain" is JSON text that refers to the other
arrays by number. Reading them needs no pickle. What is packed is the same on every machine; the
headers of an archive differ between versions of Python, so compare with `same_parts`.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from cpclean.errors import StorageError
from cpclean.projects.plain_values import packed, unpacked


class Packer:
    """Collects arrays, and returns what stands for each of them in the plain part."""

    def __init__(self) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    def array(self, array: npt.NDArray[Any], where: str) -> Any:
        """An array of any shape; objects are packed value by value."""
        if array.dtype.kind == "O":
            return {
                "objects": [packed(one, where) for one in array.ravel()],
                "shape": list(array.shape),
            }
        number = f"a{len(self._arrays)}"
        self._arrays[number] = array
        return number

    def blob(self, content: bytes) -> str:
        """Bytes of another format."""
        number = f"a{len(self._arrays)}"
        self._arrays[number] = np.frombuffer(content, dtype=np.uint8)
        return number

    def done(self, plain: Any) -> bytes:
        """Everything as bytes."""
        text = json.dumps(plain, allow_nan=False, separators=(",", ":")).encode()
        out = io.BytesIO()
        arrays: dict[str, Any] = {"plain": np.frombuffer(text, dtype=np.uint8), **self._arrays}
        np.savez_compressed(out, **arrays)  # none of them holds objects, so nothing is pickled
        return out.getvalue()


class Unpacker:
    """The opposite: opens bytes, and returns the array for what stands for it."""

    def __init__(self, content: bytes) -> None:
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                self._arrays: dict[str, npt.NDArray[Any]] = {
                    name: archive[name] for name in archive.files
                }
            self.plain: Any = json.loads(self._arrays["plain"].tobytes())
        except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as problem:
            raise StorageError(
                f"the saved project cannot be read: {problem}. Its bytes were changed or cut off; "
                "restore the database from a backup."
            ) from problem

    def array(self, stored: Any) -> npt.NDArray[Any]:
        """The array that was packed."""
        if isinstance(stored, str):
            return self._arrays[stored]
        values: npt.NDArray[Any] = np.empty(len(stored["objects"]), dtype=object)
        for place, one in enumerate(stored["objects"]):  # one by one: NumPy would unpack tuples
            values[place] = unpacked(one)
        return values.reshape(tuple(stored["shape"]))

    def blob(self, number: str) -> bytes:
        """The bytes that were packed."""
        return bytes(self._arrays[number])

    def same(self, other: Unpacker) -> bool:
        """Whether another one opened the same parts."""
        mine, theirs = self._arrays, other._arrays
        return (
            self.plain == other.plain
            and mine.keys() == theirs.keys()
            and all(
                one.dtype == theirs[name].dtype
                and one.shape == theirs[name].shape
                and one.tobytes() == theirs[name].tobytes()
                for name, one in mine.items()
                if name != "plain"
            )
        )


def same_parts(one: bytes, other: bytes) -> bool:
    """Whether bytes hold the same parts, whichever versions of Python packed them."""
    return one == other or Unpacker(one).same(Unpacker(other))
