"""Files of the driver on other machines: seen there on shared storage, or shipped through the object store."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .errors import DataError, RunError

#: Bytes of a file that are one object of the store.
CHUNK = 16 << 20
_PAGE = 4096
#: Pages that tell a file without checksums from others.
_PLACES = 64

T = TypeVar("T")


def engine() -> Any:
    """Ray, which type checkers would take for the file of that name beside this one."""
    return import_module("ray")


@dataclass(frozen=True)
class SharedFile:
    """A file as the driver sees it, and what tells it from others of the same name."""

    path: str
    #: Whether its first page has checksums of all others, as that of a packed graph.
    has_checksums: bool
    check: str

    @classmethod
    def of(cls, path: str | os.PathLike[str], *, has_checksums: bool) -> SharedFile:
        place = os.path.abspath(os.fspath(path))
        return cls(place, has_checksums, _check(place, has_checksums))

    def is_here(self) -> bool:
        """Whether this machine has the same file at the same place."""
        try:
            return _check(self.path, self.has_checksums) == self.check
        except OSError:
            return False

    def ship(self) -> list[Any]:
        """Puts the file into the object store, in chunks; gives references to them."""
        chunks = []
        with open(self.path, "rb") as file:
            while piece := file.read(CHUNK):
                chunks.append(engine().put(np.frombuffer(piece, dtype=np.uint8)))
        return chunks

    def read_copy(self, chunks: list[Any], read: Callable[[str], T]) -> T:
        """Reads this machine's copy of a file that was shipped; whoever comes first writes it.

        ``read`` checks the file by its own checksums. A copy that it refuses is written once more.
        """
        place = _folder() / f"{self.check}{Path(self.path).suffix}"
        with locked(place.with_suffix(".lock")):
            kept = place.exists()
            if not kept:
                _write(place, (engine().get(chunk) for chunk in chunks))
        try:
            return read(str(place))
        except DataError:
            if not kept:
                raise
        with locked(place.with_suffix(".lock")):
            _write(place, (engine().get(chunk) for chunk in chunks))
        return read(str(place))


def _check(path: str, has_checksums: bool) -> str:
    about = os.stat(path)
    last = max(about.st_size - _PAGE, 0)
    places = [0] if has_checksums else sorted({last * k // (_PLACES - 1) for k in range(_PLACES)})
    dated = "" if has_checksums else str(int(about.st_mtime))
    hasher = hashlib.sha256(f"{about.st_size} {dated}".encode())
    with open(path, "rb") as file:
        for place in places:
            file.seek(place)
            hasher.update(file.read(_PAGE))
    return hasher.hexdigest()[:32]


def _folder() -> Path:
    """This machine's folder for copies, which nobody else may write to."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"magnon-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and folder.stat().st_uid != user:
        raise RunError(f"{folder} is another user's; set TMPDIR to a folder of your own")
    return folder


def _write(place: Path, pieces: Iterator[Any]) -> None:
    """Writes a file, which has its name only when it is whole."""
    part = place.with_suffix(".part")
    with open(part, "wb") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, place)


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds a lock of this machine, which ends with the process; without ``wait``, one that is held is an error."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover
        yield
        return
    with open(path, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise RunError(f"{path}: another call is writing to it; wait for its end") from None
        yield
