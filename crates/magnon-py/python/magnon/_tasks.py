"""Tasks of a Ray cluster: a few at a time, retried where their worker dies, and their results as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from ._shipping import engine
from .errors import MagnonError

#: How often a task is begun again after its worker has died.
RETRIES = 20
#: Seconds after which the cluster is asked anew for its size, as machines join and leave.
_PATIENCE = 5.0


class Tasks:
    """Jobs as tasks; iterate to have each with its result. Left by an error, it ends what is under way.

    Parameters
    ----------
    jobs : iterable
        What ``submit`` takes.
    submit : callable
        Begins a job, and gives the reference to its result.
    threads : int
        Processors of a task.
    ahead : int
        Tasks that wait for a processor, for each of the cluster: arguments of few are in the object store at a time.
    cost : callable, optional
        How long a job takes, as far as it is known when the next one is chosen: the longest goes first.
    """

    def __init__(
        self,
        jobs: Iterable[Any],
        submit: Callable[[Any], Any],
        threads: int,
        *,
        ahead: int = 1,
        cost: Callable[[Any], float] | None = None,
    ) -> None:
        self._waiting = list(jobs)
        self._submit = submit
        self._threads = threads
        self._ahead = ahead
        self._cost = cost
        self._under_way: dict[Any, Any] = {}

    def again(self, job: Any) -> None:
        """Has a job done once more, before the others."""
        self._waiting.insert(0, job)

    def __enter__(self) -> Tasks:
        return self

    def __exit__(self, *_: object) -> None:
        for ref in self._under_way:
            engine().cancel(ref, force=True)
        self._under_way.clear()

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        while self._waiting or self._under_way:
            room = self._room()
            while self._waiting and len(self._under_way) < room:
                job = self._next()
                self._under_way[self._submit(job)] = job
            ready, _ = engine().wait(list(self._under_way), num_returns=1, timeout=_PATIENCE)
            for ref in ready:
                job = self._under_way.pop(ref)
                yield job, _result(ref, job)

    def _room(self) -> int:
        processors = int(engine().cluster_resources().get("CPU", 1))
        return max(2, (1 + self._ahead) * processors // self._threads)

    def _next(self) -> Any:
        if self._cost is None:
            return self._waiting.pop(0)
        costs = [self._cost(job) for job in self._waiting]
        return self._waiting.pop(costs.index(max(costs)))


def remote(function: Callable[..., Any], threads: int) -> Any:
    """A function as a task of so many processors, which is begun again where its worker dies."""
    return engine().remote(num_cpus=threads, max_retries=RETRIES)(function)


#: What the last task of this worker has built: the tasks of a call share it.
_held: dict[str, Any] = {}


def hold(key: str, build: Callable[[], Any]) -> Any:
    """What this worker has built for tasks of the same key, or builds now."""
    if _held.get("key") != key:
        _held.clear()
        _held.update(key=key, value=build())
    return _held["value"]


def let_go() -> None:
    """Drops what was built."""
    _held.clear()


def _result(ref: Any, job: Any) -> Any:
    """The result of a task, or the error that the local call would have ended with."""
    exceptions = import_module("ray.exceptions")
    dead = (exceptions.WorkerCrashedError, exceptions.NodeDiedError, exceptions.OutOfMemoryError)
    try:
        return engine().get(ref)
    except exceptions.RayTaskError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, Exception):
            raise cause from error
        raise
    except dead as error:
        words = f"task {job}: its worker died {RETRIES + 1} times; it may need more memory than a machine has"
        raise MagnonError(words) from error
