"""``propagate``, ``compare`` and ``tune`` on a Ray cluster, with the arguments of the local functions.

Feature columns never mix in h(S)X and trainings never talk: blocks of columns and models are tasks without a message
between them. Ray starts a task again where its worker dies; results are those of the local call, bit for bit.
Needs ``pip install magnon[ray]``; a cluster is joined as ``ray.init()`` finds it, or started in this process.

Examples
--------
>>> import magnon.ray  # doctest: +SKIP
>>> magnon.ray.propagate("G.magnon", "x.npy", charge="1/3")  # doctest: +SKIP
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _magnon, _operators, _training
from ._dataset import Dataset, load_dataset, take
from ._flags import split_settings, to_flags
from ._progress import Progress, watching
from ._results import Result
from .errors import ArgumentError

try:
    import ray
except ImportError as error:  # pragma: no cover
    raise ImportError("magnon.ray needs Ray: pip install 'magnon[ray]'") from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import FilterSettings, ModelSettings

__all__ = ["compare", "propagate", "tune"]

#: Blocks that are in the object store at a time, for each processor of the cluster.
_AHEAD = 2
#: How often a task is begun again after its worker has died.
_RETRIES = 20


def propagate(  # type: ignore[misc]  # features may be given by place, too
    data: Any = "demo",
    features: Any = None,
    *,
    columns: int = 8,
    output: str | os.PathLike[str] | None = None,
    progress: Progress = False,
    **settings: Unpack[FilterSettings],
) -> Any:
    """Filters features, h(S)X, as tasks of a cluster: see :func:`magnon.propagate`.

    Parameters
    ----------
    data : graph, Dataset, or name of data
        A packed graph (``G.magnon``) on storage that all machines share is mapped by each of them; other graphs
        travel through the object store, once.
    features : array or path of a ``.npy`` file, optional
        Taken as they are, unless ``feature_norm`` says otherwise; a file is mapped, and read a block at a time.
    columns : int
        Columns of a task; multiples of 8 use whole tiles.
    output : path, optional
        A ``.npy`` file for the result, which is mapped. Blocks that are done are noted beside it, so that the same call
        goes on where this one was interrupted.
    **settings
        Data, operator and filter flags; ``threads`` is the number of processors of a task, 1 by default.

    Returns
    -------
    numpy.ndarray
        One row per node; a ``numpy.memmap`` where there is an output.
    """
    if columns < 1:
        raise ArgumentError(f"columns is {columns}; a task needs at least one")
    started = _start()
    try:
        source, block_of, shape, rest = _source(data, features, dict(settings), progress)
        threads = int(rest.pop("threads", None) or 1)
        rest["charge"] = _charge(source, rest)
        spans = [(first, min(first + columns, shape[1])) for first in range(0, shape[1], columns)]
        about = [str(source if isinstance(source, str) else "graph"), shape, columns, sorted(map(str, rest.items()))]
        kept = _Kept(output, (shape[0], shape[1]), about)
        graph = source if isinstance(source, str) else ray.put(source)
        task = ray.remote(num_cpus=threads, max_retries=_RETRIES)(_filter)
        open_spans = [span for span in spans if span not in kept.done]

        def submit(span: tuple[int, int]) -> Any:
            return task.remote([graph], block_of(span), rest, threads)

        done = len(spans) - len(open_spans)
        with watching(progress) as watch:
            for span, block in _stream(open_spans, submit, threads):
                kept.put(span, block)
                done += 1
                if watch is not None:
                    watch(done, len(spans), "propagate")
        return kept.result()
    finally:
        if started:
            ray.shutdown()


def compare(
    data: Any = "demo",
    models: Sequence[str] | None = None,
    *,
    progress: Progress = False,
    **settings: Any,
) -> _training.Comparison:
    """Compares models as tasks of a cluster: see :func:`magnon.compare`.

    Each model is a task, and so is each control; what they come to is put together here.
    """
    if settings.get("tune") is not None or settings.get("tune_trials") is not None:
        raise ArgumentError("tune and tune_trials are for the local function; search first with magnon.ray.tune")
    threads = int(settings.pop("threads", None) or 1)
    dataset, rest = take(data, settings, False, keep=("split", "split_seed"))
    if models is not None:
        rest["models"] = list(models)
    flags = to_flags({**rest, "threads": threads})
    started = _start()
    try:
        with tempfile.TemporaryDirectory(prefix="magnon-") as folder, watching(progress) as watch:
            journal = Path(folder) / "jobs.jsonl"
            # No part is as many, and makes the first line of the journal.
            parts = Result(_magnon.compare_part(dataset._inner, flags, _NO_PART, str(journal)))
            inner = ray.put(dataset)
            task = ray.remote(num_cpus=threads, max_retries=_RETRIES)(_compare)
            total, done = parts.entrants + parts.coins, 0
            for wave in (range(parts.entrants), range(parts.entrants, total)):
                known = ray.put(journal.read_bytes())

                def submit(part: int, known: Any = known) -> Any:
                    return task.remote([inner], known, part, flags)

                for _, lines in _stream(wave, submit, threads):
                    _add(journal, lines)
                    done += 1
                    if watch is not None:
                        watch(done, total, "compare")
            told, page = _magnon.compare(dataset._inner, flags, None, str(journal))
        found = _training.Comparison(told)
        found.__dict__["_page"] = page
        return found
    finally:
        if started:
            ray.shutdown()


def tune(data: Any = "demo", *, progress: Progress = False, **settings: Unpack[ModelSettings]) -> Result:
    """Searches for better settings on a worker of the cluster: see :func:`magnon.tune`.

    A search is one task, as its rounds depend on each other; ``threads`` says how many processors it takes.
    """
    del progress  # the task runs elsewhere
    about: dict[str, Any] = dict(settings)
    threads = int(about.pop("threads", None) or 1)
    started = _start()
    try:
        source = data if isinstance(data, (str, os.PathLike)) else ray.put(data)
        task = ray.remote(num_cpus=threads, max_retries=_RETRIES)(_tune)
        return Result(ray.get(task.remote([source], about, threads)))
    finally:
        if started:
            ray.shutdown()


#: A part of a comparison that there is none of.
_NO_PART = 1 << 40


def _start() -> bool:
    """Joins or starts a cluster; whether it was started here."""
    if ray.is_initialized():
        return False
    ray.init(log_to_driver=False, include_dashboard=False)
    return True


def _stream(jobs: Iterable[Any], submit: Callable[[Any], Any], threads: int) -> Iterable[tuple[Any, Any]]:
    """Results as they come. Few jobs are under way at a time, so that their arguments fit the object store."""
    waiting = list(reversed(list(jobs)))
    under_way: dict[Any, Any] = {}
    try:
        while waiting or under_way:
            # Asked every time, as machines join and leave.
            cluster: Any = ray
            most = max(2, _AHEAD * int(cluster.cluster_resources().get("CPU", 1)) // threads)
            while waiting and len(under_way) < most:
                job = waiting.pop()
                under_way[submit(job)] = job
            ready, _ = ray.wait(list(under_way), num_returns=1)
            for ref in ready:
                job = under_way.pop(ref)
                yield job, ray.get(ref)
                del ref
    except BaseException:
        for ref in under_way:
            ray.cancel(ref, force=True)
        raise


def _source(
    data: Any, features: Any, settings: dict[str, Any], progress: Progress
) -> tuple[Any, Callable[[tuple[int, int]], Any], tuple[int, int], dict[str, Any]]:
    """The graph as workers get it, blocks of the features, their shape, and the settings that are left."""
    if isinstance(features, (str, os.PathLike)):
        features = np.load(features, mmap_mode="r")
    about, rest = split_settings(settings)
    norm = about.get("feature_norm") or "none"
    packed = isinstance(data, (str, os.PathLike)) and os.fspath(data).endswith(".magnon")
    if packed and features is not None and norm == "none":
        others = [key for key in about if key not in ("feature_norm", "features") and about[key] is not None]
        if others:
            raise ArgumentError(f"{', '.join(others)}: the graph is packed already")
        table = features
        source: Any = os.path.abspath(os.fspath(data))
    else:
        if features is not None:
            settings = {**settings, "features": np.asarray(features)}
            settings.setdefault("feature_norm", "none")
        dataset, rest = take(data, settings, progress)
        table = dataset.features
        source = Dataset(dataset._inner, dataset.node_names)
        if table is None:
            raise ArgumentError(f"{dataset.name} has no features to filter; give some")
    if table.ndim != 2:
        raise ArgumentError(f"features are a table, not an array of {table.ndim} axes")

    def block(span: tuple[int, int]) -> Any:
        part = table[:, span[0] : span[1]]
        part = part.toarray() if hasattr(part, "toarray") else part
        return ray.put(np.ascontiguousarray(part, dtype=np.float32))

    return source, block, (int(table.shape[0]), int(table.shape[1])), rest


def _charge(source: Any, rest: dict[str, Any]) -> str:
    """The charge, fixed on the whole graph before anything is cut."""
    charge = rest.get("charge")
    if charge is not None and charge != "auto":
        return to_flags({"charge": charge})[0].split("=", 1)[1]
    operator, _ = _operator(source, {key: value for key, value in rest.items() if key in _operators._OPERATOR})
    return str(Result(operator.report()).charge_text)


def _operator(source: Any, settings: dict[str, Any]) -> tuple[_magnon.Operator, Any]:
    dataset = load_dataset(source) if isinstance(source, str) else source
    return _magnon.Operator(dataset._inner, to_flags(settings), None), dataset


#: The operator of the last task of this worker: the tasks of a call share it.
_known: dict[str, Any] = {}


def _filter(graph: list[Any], block: Any, settings: dict[str, Any], threads: int) -> Any:
    """A task: one block of columns."""
    about = {key: value for key, value in settings.items() if key in _operators._OPERATOR}
    rest = {key: value for key, value in settings.items() if key not in about}
    key = repr((graph[0] if isinstance(graph[0], str) else graph[0].hex(), sorted(map(str, about.items()))))
    if _known.get("key") != key:
        source = graph[0] if isinstance(graph[0], str) else ray.get(graph[0])
        _known.clear()
        _known.update(key=key, operator=_operator(source, {**about, "threads": threads})[0])
    filtered, _ = _known["operator"].propagate_block(block, to_flags({**rest, "threads": threads}), None)
    return filtered


def _compare(dataset: list[Any], known: bytes, part: int, flags: list[str]) -> bytes:
    """A task: one part of a comparison, as the lines of a journal that begins with what is known."""
    inner = ray.get(dataset[0])._inner
    with tempfile.TemporaryDirectory(prefix="magnon-") as folder:
        journal = Path(folder) / "jobs.jsonl"
        journal.write_bytes(known)
        _magnon.compare_part(inner, flags, part, str(journal))
        return journal.read_bytes()


def _tune(data: list[Any], settings: dict[str, Any], threads: int) -> dict[str, Any]:
    """A task: a whole search."""
    source = data[0] if isinstance(data[0], (str, os.PathLike)) else ray.get(data[0])
    return dict(_training.tune(source, threads=threads, **settings))


def _add(journal: Path, lines: bytes) -> None:
    """Adds the jobs of a journal to another about the same data, each once."""
    known = journal.read_bytes().splitlines(keepends=True)
    new = [line for line in lines.splitlines(keepends=True) if line not in known]
    journal.write_bytes(b"".join(known + new))


class _Kept:
    """The result, and which blocks of it are there: in memory, or in a file with a list beside it."""

    def __init__(self, output: Any, shape: tuple[int, int], about: list[Any]) -> None:
        self._shape = shape
        self._array: Any = None
        self.done: set[tuple[int, int]] = set()
        self._output = None if output is None else os.fspath(output)
        if self._output is None:
            return
        self._part, self._list = self._output + ".part", self._output + ".done"
        self._key = hashlib.sha256(json.dumps(about).encode()).hexdigest()
        try:
            lines = Path(self._list).read_text().splitlines()
            self._array = np.load(self._part, mmap_mode="r+")
        except (OSError, ValueError):
            lines = []
        if self._array is None or not lines or lines[0] != self._key or self._array.shape != shape:
            self._array = None
            Path(self._list).write_text(self._key + "\n")
        else:
            # A line that a kill has cut short is no block.
            self.done = {(int(a), int(b)) for a, b, end in map(_words, lines[1:]) if end == "."}

    def put(self, span: tuple[int, int], block: Any) -> None:
        if self._array is None and self._output is None:
            self._array = np.empty(self._shape, dtype=block.dtype)
        elif self._array is None:
            self._array = np.lib.format.open_memmap(self._part, mode="w+", dtype=block.dtype, shape=self._shape)
        self._array[:, span[0] : span[1]] = block
        if self._output is not None:
            self._array.flush()
            with open(self._list, "a") as lines:
                lines.write(f"{span[0]} {span[1]} .\n")

    def result(self) -> Any:
        if self._output is None:
            return self._array if self._array is not None else np.empty(self._shape, np.float32)
        if self._array is not None:
            self._array.flush()
            self._array = None
            os.replace(self._part, self._output)
        os.remove(self._list)
        return np.load(self._output, mmap_mode="r")


def _words(line: str) -> tuple[str, str, str]:
    words = (*line.split(), "", "", "")
    return (words[0], words[1], words[2]) if words[2] == "." else ("0", "0", "")
