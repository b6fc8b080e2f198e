"""Trainings in parts: the library says which can be run now, tasks run them, and a journal has what they come to."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from . import _magnon
from ._shipping import engine
from ._tasks import Tasks, hold, remote


class Wave(NamedTuple):
    """What the parts of a wave know."""

    #: The journal when the wave began.
    known: bytes
    #: Parts of the waves before.
    tried: list[str]


class Lines(NamedTuple):
    """What a part came to: the lines that it adds to a journal, and its seconds."""

    text: bytes
    seconds: float


@dataclass(frozen=True)
class Call:
    """What all parts of a call share."""

    #: The data set in the object store.
    ref: Any
    #: Its keywords, as JSON.
    keywords: str
    #: Processors of a task.
    threads: int
    #: What a bar calls it.
    words: str

    def run(self, wave: Wave, work: Callable[[_magnon.Dataset, str], object]) -> Lines:
        """Does the work of a part on the data set, with a journal of its own."""
        begun = time.monotonic()
        data = hold(self.ref.hex(), lambda: engine().get(self.ref))
        with tempfile.TemporaryDirectory(prefix="magnon-") as folder:
            journal = Path(folder) / "jobs.jsonl"
            journal.write_bytes(wave.known)
            work(data._inner, str(journal))
            return Lines(journal.read_bytes()[len(wave.known) :], time.monotonic() - begun)


class Journal:
    """The file that jobs are kept in: a given one, or one that lasts as long as the call."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="magnon-") if path is None else None
        place = Path(self._folder.name) / "jobs.jsonl" if self._folder is not None else Path(os.fspath(path or ""))
        self.path = str(place)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def read(self) -> bytes:
        return Path(self.path).read_bytes()

    def add(self, lines: bytes) -> None:
        """Adds jobs in one go, so that a kill cuts at most the last line, which is then dropped."""
        with open(self.path, "ab") as file:
            file.write(lines)


def hand_out(
    function: Callable[[Call, Wave, str], Lines],
    call: Call,
    journal: Journal,
    stand: Callable[[list[str], float], str],
    watch: Callable[[int, int, str], object] | None,
) -> dict[str, Any]:
    """Has all parts of a call run, wave by wave, and gives where it stands in the end.

    Parameters
    ----------
    function : callable
        The task that runs a part.
    stand : callable
        Says where the call stands by the journal, as JSON, from the parts that were tried and the seconds since the
        first. A part that was tried and is open all the same has failed, and is not tried again.
    """
    task, begun = remote(function, call.threads), time.monotonic()
    tried: set[str] = set()
    # Seconds of a part by group: none is tried again before each was tried once, and the longest goes first.
    costs: dict[str, float] = {}
    while True:
        stands: dict[str, Any] = json.loads(stand(sorted(tried), time.monotonic() - begun))
        groups = {part["key"]: part["group"] for part in stands["open"] if part["key"] not in tried}
        if not groups:
            return stands
        wave = engine().put(Wave(journal.read(), sorted(tried)))

        def submit(part: str, groups: dict[str, str] = groups, wave: Any = wave) -> Any:
            costs.setdefault(groups[part], -1.0)
            return task.remote(call, wave, part)

        def cost(part: str, groups: dict[str, str] = groups) -> float:
            return costs.get(groups[part], float("inf"))

        done = stands["done"]
        with Tasks(groups, submit, call.threads, ahead=0, cost=cost) as tasks:
            for part, lines in tasks:
                journal.add(lines.text)
                costs[groups[part]] = max(costs[groups[part]], lines.seconds)
                done += 1
                if watch is not None:
                    watch(done, stands["steps"], call.words)
        tried.update(groups)
