"""``propagate``, ``compare`` and ``tune`` on a Ray cluster, with the arguments of the local functions.

Feature columns never mix in h(S)X and trainings never talk: blocks of columns, runs of models and trials of a search
are tasks without a message between them. Ray starts a task again where its worker dies; results are those of the local
call, bit for bit. Needs ``pip install magnon[ray]``; a cluster is joined as ``ray.init()`` finds it, or started in
this process.

Examples
--------
>>> import magnon.ray  # doctest: +SKIP
>>> magnon.ray.propagate("G.magnon", "x.npy", charge="1/3")  # doctest: +SKIP
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _magnon, _operators, _training
from ._blocks import BlockFolder, Blocks, Span
from ._dataset import take
from ._flags import to_flags
from ._progress import Progress, watching
from ._results import Result
from ._shipping import SharedFile
from ._sources import Graph, Packed, Put, read_source
from ._tasks import Tasks, remote
from .errors import ArgumentError, DataError

try:
    import ray
except ImportError as error:  # pragma: no cover
    raise ImportError("magnon.ray needs Ray: pip install 'magnon[ray]'") from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import FilterSettings, ModelSettings

__all__ = ["compare", "propagate", "tune"]


def propagate(  # type: ignore[misc]  # features may be given by place, too
    data: Any = "demo",
    features: Any = None,
    *,
    columns: int = 8,
    output: str | os.PathLike[str] | None = None,
    shared: bool | None = None,
    progress: Progress = False,
    **settings: Unpack[FilterSettings],
) -> Any:
    """Filters features, h(S)X, as tasks of a cluster: see :func:`magnon.propagate`.

    Parameters
    ----------
    data : graph, Dataset, or name of data
        A packed graph (``G.magnon``) is mapped by each machine; other graphs travel through the object store, once.
    features : array or path of a ``.npy`` file, optional
        Taken as they are, unless ``feature_norm`` says otherwise; a file is mapped, and read a block at a time.
    columns : int
        Columns of a task; multiples of 8 use whole tiles.
    output : path, optional
        A ``.npy`` file for the result, which is mapped. Blocks that are done lie in ``OUTPUT.ray`` until all are there,
        so that the same call goes on where this one was interrupted.
    shared : bool, optional
        Whether all machines see the files of the graph and the features under the same names. True: a machine that
        does not is an error. False: the graph is shipped through the object store in chunks and kept in the temporary
        folder of each machine, features are shipped block by block. By default each machine looks whether it has
        the same files, and what it has not is shipped.
    **settings
        Data, operator and filter flags; ``threads`` is the number of processors of a task, 1 by default.

    Returns
    -------
    numpy.ndarray
        One row per node; a ``numpy.memmap`` where there is an output.
    """
    if columns < 1:
        raise ArgumentError(f"columns is {columns}; a task needs at least one")
    with _cluster():
        graph, table, rest = read_source(data, features, dict(settings), shared, progress)
        threads = int(rest.pop("threads", None) or 1)
        rest["charge"] = _charge(graph, rest)
        nodes, width = table.shape
        spans = [(first, min(first + columns, width)) for first in range(0, width, columns)]
        about = ""
        if output is not None:
            about = json.dumps([graph.check(), table.check(), nodes, width, columns, to_flags(rest)])
        task = remote(_filter, threads)
        with Blocks(output, table.shape, spans, about) as blocks, watching(progress) as watch:
            job = _Filtering(graph.shipped(), table.file, rest, threads, blocks.folder)

            def submit(span: Span) -> Any:
                return task.remote(job, span, None if job.features is not None else ray.put(table.block(span)))

            done = len(blocks.done)
            with Tasks([span for span in spans if span not in blocks.done], submit, threads) as tasks:
                for span, block in tasks:
                    if isinstance(block, _Missing):
                        if shared:
                            raise DataError(f"{block.path}: the machine {block.machine} does not see this file")
                        if job.features is not None and block.path == job.features.path:
                            job = replace(job, features=None)
                        elif isinstance(job.graph, Packed) and job.graph.chunks is None:
                            job = replace(job, graph=graph.shipped(whole=True))
                        tasks.again(span)
                        continue
                    if block is not None:
                        blocks.put(span, block)
                    done += 1
                    if watch is not None:
                        watch(done, len(spans), "propagate")
            return blocks.result()


def compare(
    data: Any = "demo",
    models: Sequence[str] | None = None,
    *,
    journal: str | os.PathLike[str] | None = None,
    progress: Progress = False,
    **settings: Any,
) -> _training.Comparison:
    """Compares models as tasks of a cluster: see :func:`magnon.compare`.

    Each run of each model is a task, controls among them; what they come to is put together here.

    Parameters
    ----------
    journal : path, optional
        A file that runs are kept in as they are done, so that the same call goes on where this one was interrupted.
    **settings
        Those of :func:`magnon.compare`; ``threads`` is the number of processors of a task, 1 by default.
    """
    if settings.get("tune") is not None or settings.get("tune_trials") is not None:
        raise ArgumentError("tune and tune_trials are for the local function; search first with magnon.ray.tune")
    threads = int(settings.pop("threads", None) or 1)
    dataset, rest = take(data, settings, False, keep=("split", "split_seed"))
    if models is not None:
        rest["models"] = list(models)
    flags = to_flags({**rest, "threads": threads})
    with _cluster(), _Journal(journal) as kept, watching(progress) as watch:
        # No part is as many, and makes the first line of the journal.
        parts = Result(_magnon.compare_part(dataset._inner, flags, _NO_PART, kept.path))
        repeats = max(1, int(parts.repeats))
        inner = ray.put(dataset)
        task = remote(_compare, threads)
        total, done = parts.entrants + parts.coins, 0
        for wave in (range(parts.entrants), range(parts.entrants, total)):
            known = ray.put(kept.read())
            # Seconds of a run by entrant: none is tried again before each was tried once.
            costs: dict[int, float] = {}

            def submit(part: int, known: Any = known, costs: dict[int, float] = costs) -> Any:
                costs.setdefault(part // repeats, -1.0)
                return task.remote([inner], known, part, flags)

            def cost(part: int, costs: dict[int, float] = costs) -> float:
                return costs.get(part // repeats, float("inf"))

            with Tasks(wave, submit, threads, ahead=0, cost=cost) as tasks:
                for part, (lines, seconds) in tasks:
                    kept.add(lines)
                    costs[part // repeats] = max(costs[part // repeats], seconds)
                    done += 1
                    if watch is not None:
                        watch(done, total, "compare")
        told, page = _magnon.compare(dataset._inner, flags, None, kept.path)
    found = _training.Comparison(told)
    found.__dict__["_page"] = page
    return found


def tune(
    data: Any = "demo",
    *,
    trials: int | None = None,
    minutes: float | None = None,
    search: Literal["halving", "random"] | None = None,
    splits: int | None = None,
    runs: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    progress: Progress = False,
    **settings: Unpack[ModelSettings],
) -> Result:
    """Searches for better settings of a model as tasks of a cluster: see :func:`magnon.tune`.

    The trials of a rung are tasks; a rung ends before the next begins, as it decides which trials go on.

    Parameters
    ----------
    journal : path, optional
        A file that trials are kept in as they are done, so that the same call goes on where this one was interrupted.
    **settings
        Those of :func:`magnon.tune`; ``threads`` is the number of processors of a task, 1 by default.
    """
    if settings.get("model") == "":
        raise ArgumentError("the name of the model is empty")
    about: dict[str, Any] = dict(settings)
    threads = int(about.pop("threads", None) or 1)
    begun = time.monotonic()
    dataset, rest = take(data, about, False, keep=("split", "split_seed"))
    rest.update(trials=trials, minutes=minutes, search=search, splits=splits, runs=runs, threads=threads)
    flags = to_flags(rest)
    with _cluster(), _Journal(journal) as kept, watching(progress) as watch:
        inner = ray.put(dataset)
        task = remote(_tune, threads)
        drawn = 0
        while True:
            stands = Result(_magnon.tune_part(dataset._inner, flags, _NO_PART, kept.path))
            over = minutes is not None and time.monotonic() - begun >= 60 * minutes
            if stands.open == 0 or (over and 0 < drawn < stands.trials):
                break
            drawn = stands.trials
            known = ray.put(kept.read())

            def submit(part: int, known: Any = known) -> Any:
                return task.remote([inner], known, part, flags)

            done = stands.done
            with Tasks(range(stands.open), submit, threads, ahead=0) as tasks:
                for _, lines in tasks:
                    kept.add(lines)
                    done += 1
                    if watch is not None:
                        watch(done, stands.steps, "tune")
        # Time that is over cuts the search behind the trials that were drawn.
        cut = {"trials": drawn} if stands.open else {}
        return Result(_magnon.tune(dataset._inner, to_flags({**rest, **cut, "minutes": None}), None, kept.path))


#: A part of a comparison or a search that there is none of.
_NO_PART = 1 << 40


@contextlib.contextmanager
def _cluster() -> Iterator[None]:
    """Joins a cluster, or starts one for as long as a call takes."""
    started = not ray.is_initialized()
    if started:
        ray.init(log_to_driver=False, include_dashboard=False)
    try:
        yield
    finally:
        if started:
            ray.shutdown()


@dataclass(frozen=True)
class _Filtering:
    """What the tasks of a call share."""

    graph: Packed | Put
    #: The features, where workers read them themselves.
    features: SharedFile | None
    settings: dict[str, Any]
    threads: int
    folder: BlockFolder | None


@dataclass(frozen=True)
class _Missing:
    """What a machine does not see."""

    path: str
    machine: str


def _charge(graph: Graph, rest: dict[str, Any]) -> str:
    """The charge, fixed on the whole graph before anything is cut."""
    charge = rest.get("charge")
    if charge is not None and charge != "auto":
        return to_flags({"charge": charge})[0].split("=", 1)[1]
    about = {key: value for key, value in rest.items() if key in _operators._OPERATOR}
    operator = _magnon.Operator(graph.dataset()._inner, to_flags(about), None)
    return str(Result(operator.report()).charge_text)


#: What the last task of this worker has built: the tasks of a call share it.
_held: dict[str, Any] = {}


def _hold(key: str, build: Callable[[], Any]) -> Any:
    if _held.get("key") != key:
        _held.clear()
        _held.update(key=key, value=build())
    return _held["value"]


def _filter(job: _Filtering, span: Span, block: Any) -> Any:
    """A task: one block of columns. It gives nothing where it could write the block itself."""
    about = {key: value for key, value in job.settings.items() if key in _operators._OPERATOR}
    rest = {key: value for key, value in job.settings.items() if key not in about}
    flags = to_flags({**about, "threads": job.threads})

    def build() -> Any:
        dataset = job.graph.dataset()
        return None if dataset is None else _magnon.Operator(dataset._inner, flags, None)

    mark = job.graph.file.check if isinstance(job.graph, Packed) else job.graph.ref.hex()
    operator = _hold(f"{mark} {flags}", build)
    if operator is None and isinstance(job.graph, Packed):
        _held.clear()
        return _Missing(job.graph.file.path, platform.node())
    if block is None and job.features is not None:
        if not job.features.is_here():
            return _Missing(job.features.path, platform.node())
        part = np.load(job.features.path, mmap_mode="r")[:, span[0] : span[1]]
        block = np.ascontiguousarray(part, dtype=np.float32)
    filtered, _ = operator.propagate_block(block, to_flags({**rest, "threads": job.threads}), None)
    if job.folder is not None and job.folder.is_here():
        job.folder.save(span, filtered)
        return None
    return filtered


def _compare(dataset: list[Any], known: bytes, part: int, flags: list[str]) -> tuple[bytes, float]:
    """A task: one part of a comparison, as the lines that it adds to a journal, and its seconds."""
    begun = time.monotonic()
    lines = _in_journal(dataset, known, lambda inner, path: _magnon.compare_part(inner, flags, part, path))
    return lines, time.monotonic() - begun


def _tune(dataset: list[Any], known: bytes, part: int, flags: list[str]) -> bytes:
    """A task: one trial on one rung, as the line that it adds to a journal."""
    return _in_journal(dataset, known, lambda inner, path: _magnon.tune_part(inner, flags, part, path))


def _in_journal(dataset: list[Any], known: bytes, run: Callable[[_magnon.Dataset, str], Any]) -> bytes:
    inner = _hold(dataset[0].hex(), lambda: ray.get(dataset[0]))._inner
    with tempfile.TemporaryDirectory(prefix="magnon-") as folder:
        journal = Path(folder) / "jobs.jsonl"
        journal.write_bytes(known)
        run(inner, str(journal))
        return journal.read_bytes()[len(known) :]


class _Journal:
    """The file that jobs are kept in: a given one, or one that lasts as long as the call."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="magnon-") if path is None else None
        place = Path(self._folder.name) / "jobs.jsonl" if self._folder is not None else Path(os.fspath(path or ""))
        self.path = str(place)

    def __enter__(self) -> _Journal:
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
