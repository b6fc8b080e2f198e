"""Remarks and progress bars of long calls."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from typing import Union

logger = logging.getLogger("magnon")

#: True for a bar, or a function of steps done, steps in all and words.
Progress = Union[bool, Callable[[int, int, str], object]]

_WIDTH = 24


def remark(text: str) -> None:
    """Hands a remark of the library to the logger ``magnon``."""
    logger.info("%s", text)


def caution(text: str, kind: type[Warning] = UserWarning) -> None:
    """Warns of what changes how results must be read, at the line that called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "magnon":
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)


class Bar:
    """A line that is written over, on a terminal as in a notebook."""

    def __init__(self) -> None:
        self._length = 0

    def __call__(self, done: int, total: int, words: str) -> None:
        share = min(done / total, 1.0) if total else 0.0
        filled = round(_WIDTH * share)
        line = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {share:4.0%} {words}"
        sys.stderr.write("\r" + line.ljust(self._length))
        sys.stderr.flush()
        self._length = len(line)

    def close(self) -> None:
        """Wipes the line."""
        if self._length:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()
            self._length = 0


class watching:
    """Gives what a call is watched by, and wipes the bar after it."""

    def __init__(self, progress: Progress) -> None:
        self._bar = Bar() if progress is True else None
        self._watch = self._bar or (progress if callable(progress) else None)

    def __enter__(self) -> Callable[[int, int, str], object] | None:
        return self._watch

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
