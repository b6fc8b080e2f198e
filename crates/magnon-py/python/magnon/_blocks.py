"""Blocks of columns that come one by one: in an array, or in files beside the output that are joined at the end."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ._shipping import locked

#: Bytes that are joined at a time.
_JOINED = 16 << 20

Span = tuple[int, int]


class BlockFolder(NamedTuple):
    """A folder of blocks, as a worker gets it: it writes there itself where it sees the driver's word."""

    path: str
    word: str

    def is_here(self) -> bool:
        try:
            return (Path(self.path) / "call").read_text() == self.word
        except OSError:
            return False

    def save(self, span: Span, block: Any) -> None:
        """Writes a block, which has its name only when it is whole."""
        place = Path(self.path) / _name(span)
        part = place.with_name(f"{place.name}.{socket.gethostname()}-{os.getpid()}.part")
        with open(part, "wb") as file:
            np.save(file, block)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, place)


class Blocks:
    """The result of a call that comes in blocks. ``done`` has the spans that an earlier call left.

    Parameters
    ----------
    output : path, optional
        A ``.npy`` file. Its blocks lie in the folder ``OUTPUT.ray`` until all are there.
    shape : (int, int)
        Nodes and columns.
    spans : iterable of (int, int)
        First column and the one behind the last, of all blocks.
    about : str
        All that the numbers depend on: blocks about something else are dropped.
    """

    def __init__(self, output: Any, shape: tuple[int, int], spans: Iterable[Span], about: str) -> None:
        self._shape = shape
        self._spans = list(spans)
        self._array: Any = None
        self._output = None if output is None else Path(os.fspath(output))
        self._held = ExitStack()
        self.folder: BlockFolder | None = None
        self.done: set[Span] = set()
        if self._output is None:
            return
        place = Path(f"{self._output}.ray")
        place.mkdir(exist_ok=True)
        self._held.enter_context(locked(place / "lock", wait=False))
        told = place / "about"
        if not told.exists() or told.read_text() != about:
            for path in place.iterdir():
                if path.name != "lock":
                    path.unlink()
            told.write_text(about)
        for part in place.glob("*.part"):
            part.unlink(missing_ok=True)
        self.folder = BlockFolder(str(place.resolve()), secrets.token_hex(8))
        (place / "call").write_text(self.folder.word)
        self.done = {span for span in self._spans if self._is_whole(span)}

    def __enter__(self) -> Blocks:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def put(self, span: Span, block: Any) -> None:
        """Takes a block that a worker has not written itself."""
        if self.folder is not None:
            self.folder.save(span, block)
            return
        if self._array is None:
            self._array = np.empty(self._shape, dtype=block.dtype)
        self._array[:, span[0] : span[1]] = block

    def result(self) -> Any:
        """All columns; those of an output are mapped."""
        if self.folder is None or self._output is None:
            return self._array if self._array is not None else np.empty(self._shape, np.float32)
        folder = Path(self.folder.path)
        if len(self._spans) == 1:
            os.replace(folder / _name(self._spans[0]), self._output)
        else:
            self._join(folder / "joined.part")
            os.replace(folder / "joined.part", self._output)
        self._held.close()
        shutil.rmtree(folder)
        return np.load(self._output, mmap_mode="r")

    def _is_whole(self, span: Span) -> bool:
        try:
            return self._block(span).shape == (self._shape[0], span[1] - span[0])
        except (OSError, ValueError):
            return False

    def _block(self, span: Span) -> Any:
        assert self.folder is not None
        return np.load(Path(self.folder.path) / _name(span), mmap_mode="r")

    def _join(self, place: Path) -> None:
        """Writes plainly rather than through a mapping, so that a full disk is an error and no signal."""
        blocks = [self._block(span) for span in self._spans]
        dtype = blocks[0].dtype if blocks else np.dtype(np.float32)
        nodes, columns = self._shape
        rows = max(1, _JOINED // max(1, columns * dtype.itemsize))
        with open(place, "wb") as file:
            header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": self._shape}
            np.lib.format.write_array_header_1_0(file, header)
            for first in range(0, nodes, rows):
                part = np.empty((min(rows, nodes - first), columns), dtype)
                for (begin, end), block in zip(self._spans, blocks):
                    part[:, begin:end] = block[first : first + rows]
                file.write(part.data)
            file.flush()
            os.fsync(file.fileno())


def _name(span: Span) -> str:
    return f"{span[0]}-{span[1]}.npy"
