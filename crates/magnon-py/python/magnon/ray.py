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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from . import _magnon, _operators, _training
from ._blocks import BlockFolder, Blocks, Span
from ._dataset import Dataset
from ._settings import as_text, to_json
from ._keywords import CompareSettings, FilterSettings, ModelSettings, Unpack, check_keywords, documented
from ._parts import Call, Journal, Lines, Wave, hand_out
from ._progress import Progress, watching
from ._results import Result
from ._sources import Graph, Packed, Put, TableFile, read_source
from ._tasks import Tasks, hold, let_go, remote
from .errors import ArgumentError, DataError

try:
    import ray
except ImportError as error:  # pragma: no cover
    raise ImportError("magnon.ray needs Ray: pip install 'magnon[ray]'") from error

__all__ = ["compare", "propagate", "tune"]


@documented("propagate")
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
    features : array or path, optional
        Taken as they are, unless ``feature_norm`` says otherwise. Beside a packed graph, those of a ``.npy``,
        ``.safetensors`` or ``.parquet`` file stay in it, and are read a block of columns at a time; rows of a Parquet
        file that has ids are put in the order of the nodes, and ``extra_ids="drop"`` leaves out ids without an edge.
        Other files are read whole; graphs in memory take arrays.
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
        Keywords of data, operator and filter; ``threads`` is the number of processors of a task, 1 by default.

    Returns
    -------
    numpy.ndarray
        One row per node; a ``numpy.memmap`` where there is an output.
    """
    check_keywords(propagate, settings)
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
            about = json.dumps([graph.check(), table.check(), nodes, width, columns, to_json(rest)])
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
                        if job.features is not None and block.path == job.features.file.path:
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


@documented("compare")
def compare(
    data: Any = "demo",
    models: Sequence[str] | None = None,
    *,
    splits: int | None = None,
    runs: int | None = None,
    draws: int | None = None,
    tune: float | None = None,
    tune_trials: int | None = None,
    memory: str | None = None,
    journal: str | os.PathLike[str] | None = None,
    progress: Progress = False,
    **settings: Unpack[CompareSettings],
) -> _training.Comparison:
    """Compares models as tasks of a cluster: see :func:`magnon.compare`.

    Each run of each model is a task, controls among them, and before them each trial of a search where settings are
    searched; what they come to is put together here.

    Parameters
    ----------
    tune, tune_trials : float, int
        Search the settings of each first, as in :func:`magnon.compare`. Searches go side by side, so that minutes are
        those of all models together: with 10 minutes for each of 3, none of them begins anything after 30.
    journal : path, optional
        A file that runs and trials are kept in as they are done, so that the same call goes on where this one was
        interrupted.
    **settings
        Those of :func:`magnon.compare`; ``threads`` is the number of processors of a task, 1 by default.
    """
    check_keywords(compare, settings)
    about: dict[str, Any] = dict(settings)
    threads = int(about.pop("threads", None) or 1)
    dataset, rest = _training.training_data(data, about, False)
    rest.update(models=None if models is None else list(models), splits=splits, runs=runs, draws=draws)
    rest.update(tune=tune, tune_trials=tune_trials, memory=memory, threads=threads)
    keywords = to_json(rest)
    with _cluster(), Journal(journal) as kept, watching(progress) as watch:

        def stand(tried: list[str], seconds: float) -> str:
            return _magnon.compare_parts(dataset._inner, keywords, kept.path, tried, seconds)

        hand_out(_compare, Call(ray.put(dataset), keywords, threads, "compare"), kept, stand, watch)
        return _training.compared(dataset, keywords, None, kept.path)


@documented("tune")
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
    check_keywords(tune, settings)
    about: dict[str, Any] = dict(settings)
    threads = int(about.pop("threads", None) or 1)
    dataset, rest = _training.search_data(data, about, False)
    rest.update(trials=trials, minutes=minutes, search=search, splits=splits, runs=runs, threads=threads)
    keywords = to_json(rest)
    with _cluster(), Journal(journal) as kept, watching(progress) as watch:

        def stand(tried: list[str], seconds: float) -> str:
            return _magnon.tune_parts(dataset._inner, keywords, kept.path, seconds)

        stands = hand_out(_tune, Call(ray.put(dataset), keywords, threads, "tune"), kept, stand, watch)
        # Time that is over cuts the search behind the trials that were drawn.
        cut = {} if minutes is None else {"trials": stands["trials"], "minutes": None}
        return Result(_magnon.tune(dataset._inner, to_json({**rest, **cut}), None, kept.path))


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
    features: TableFile | None
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
        return as_text(charge)
    about = {key: value for key, value in rest.items() if key in _operators._OPERATOR}
    operator = _magnon.Operator(graph.dataset._inner, to_json(about), None)
    return str(Result(operator.report()).charge_text)


class _Here:
    """What the tasks of a call share on a worker: the operator, and the file that features are read from."""

    def __init__(self, dataset: Dataset, keywords: str, *, keeps_graph: bool) -> None:
        self.operator = _magnon.Operator(dataset._inner, keywords, None)
        #: A packed graph is mapped, and tells which node a row of a file belongs to.
        self._graph = dataset if keeps_graph else None
        self._opened: tuple[TableFile, _magnon.FeatureFile] | None = None

    def columns(self, source: TableFile, span: Span) -> Any:
        if self._graph is None:
            raise DataError(f"{source.file.path}: features are read beside a packed graph")
        if self._opened is None or self._opened[0] != source:
            self._opened = (source, source.open(self._graph))
        return self._opened[1].columns(*span)


def _filter(job: _Filtering, span: Span, block: Any) -> Any:
    """A task: one block of columns. It gives nothing where it could write the block itself."""
    about = {key: value for key, value in job.settings.items() if key in _operators._OPERATOR}
    rest = {key: value for key, value in job.settings.items() if key not in about}
    keywords = to_json({**about, "threads": job.threads})
    packed = isinstance(job.graph, Packed)

    def build() -> _Here | None:
        dataset = job.graph.dataset()
        return None if dataset is None else _Here(dataset, keywords, keeps_graph=packed)

    mark = job.graph.file.check if isinstance(job.graph, Packed) else job.graph.ref.hex()
    here = hold(f"{mark} {keywords}", build)
    if here is None and isinstance(job.graph, Packed):
        let_go()
        return _Missing(job.graph.file.path, platform.node())
    if block is None and job.features is not None:
        if not job.features.file.is_here():
            return _Missing(job.features.file.path, platform.node())
        block = here.columns(job.features, span)
    filtered, _ = here.operator.propagate_block(block, to_json({**rest, "threads": job.threads}), None)
    if job.folder is not None and job.folder.is_here():
        job.folder.save(span, filtered)
        return None
    return filtered


def _compare(call: Call, wave: Wave, part: str) -> Lines:
    """A task: one part of a comparison."""
    return call.run(wave, lambda data, path: _magnon.compare_part(data, call.keywords, path, wave.tried, part))


def _tune(call: Call, wave: Wave, part: str) -> Lines:
    """A task: one trial on one rung."""
    return call.run(wave, lambda data, path: _magnon.tune_part(data, call.keywords, path, part))
