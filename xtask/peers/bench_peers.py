"""Times other libraries on request, so that runs can be interleaved with others.

Reads one JSON request a line on stdin and answers one JSON object a line on stdout:

    {"task": "load_product", "path": FOLDER, "threads": 2}   reads op.npz and x.npy, warms up
    {"task": "scipy_product"}                                A @ X
    {"task": "torch_product", "threads": 2}                  A @ X, by torch's fastest way, or by
                                                             the way named in "method"
    {"task": "scipy_propagate", "order": 8}                  LinearRank of X
    {"task": "scipy_whole", "path": FOLDER, "order": 8, "charge": 0.2}
                                                             the same from files to a file
    {"task": "pandas_edges", "path": FILE, "sep": "\\t", "comment": "#"}
    {"task": "ensmallen_edges", "path": FILE, "numeric": true}
                                                             edges parted by tabs, to a graph
    {"task": "load_cycles", "path": FILE, "nodes": n}        reads the edges u,v of a digraph
    {"task": "networkx_cycles"}                              all its cycles, counted
    {"task": "igraph_cycles"}                                all its cycles, listed
    {"task": "igraph_search"}                                the same search, nothing listed
    {"task": "networkx_bounded", "path": FILE, "bound": 20, "limit": 20}
                                                             cycles of at most so many edges of an
                                                             edge list, cut off after so many seconds
    {"task": "load_spectrum", "path": FILE}                  reads a Hermitian matrix, made dense
    {"task": "scipy_eigvalsh"}                               all its eigenvalues
    {"task": "scipy_eigh"}                                   all its eigenpairs
    {"task": "scipy_eigsh", "path": FILE, "count": k, "tolerance": e, "limit": 600}
                                                             the k smallest eigenpairs of a sparse
                                                             matrix, cut off after so many seconds
    {"task": "quit"}

Timed tasks answer {"seconds": t}, those on cycles their number as well; a task that fails answers {"error": text}.
"""

import json
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy
import scipy.linalg
import scipy.sparse as sp


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Seconds taken, and the result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def relative_error(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Frobenius norm of the difference over that of the reference."""
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


def linear_rank(a: sp.csr_matrix, x: np.ndarray, order: int) -> np.ndarray:
    """LinearRank by the recurrence of the paper."""
    term = (x * np.float32(2 / (order + 1))).astype(x.dtype, copy=False)
    result = term.copy()
    for k in range(order - 1):
        term = a @ term
        term *= np.float32((order - k - 1) / (order - k))
        result += term
    return result


def whole(folder: Path, order: int, charge: float) -> None:
    """adj.npz and features.npy to the filtered features in peer.npy, as a careful script would."""
    adjacency = sp.csr_matrix(sp.load_npz(folder / "adj.npz"), dtype=np.float32)
    difference = (adjacency - adjacency.T).tocsr()
    symmetric = adjacency.maximum(adjacency.T).tocsr()
    phase = difference.astype(np.complex64)
    phase.data = np.exp(2j * np.pi * charge * difference.data).astype(np.complex64) - 1
    magnetic = symmetric.astype(np.complex64) + symmetric.multiply(phase)
    magnetic = (magnetic + sp.identity(adjacency.shape[0], np.complex64)).tocsr()
    degrees = np.asarray(symmetric.sum(axis=1)).ravel() + 1
    scale = sp.diags((1 / np.sqrt(degrees)).astype(np.complex64))
    operator = (scale @ magnetic @ scale).tocsr()
    features = np.load(folder / "features.npy").astype(np.complex64)
    np.save(folder / "peer.npy", linear_rank(operator, features, order))


class TorchProducts:
    """Ways of torch to multiply a complex CSR matrix and a dense block on the CPU."""

    def __init__(self, a: sp.csr_matrix, x: np.ndarray) -> None:
        import torch

        self.torch = torch
        self.x = torch.from_numpy(x)
        self.whole = self.tensor(a)
        self.re, self.im = self.tensor(part(a, a.data.real)), self.tensor(part(a, a.data.imag))
        self.methods: dict[str, Callable[[], object]] = {
            "complex CSR": lambda: self.whole @ self.x,
            "real and imaginary CSR": lambda: self.split(lambda a, x: a @ x),
            "real and imaginary CSR, sparse.mm with reduce": lambda: self.split(
                lambda a, x: torch.sparse.mm(a, x, reduce="sum")
            ),
        }
        self.chosen = ""

    def tensor(self, a: sp.csr_matrix) -> object:
        """The same matrix as a torch CSR tensor with 32-bit indices."""
        torch = self.torch
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.sparse_csr_tensor(
                torch.from_numpy(a.indptr.astype(np.int32)),
                torch.from_numpy(a.indices.astype(np.int32)),
                torch.from_numpy(a.data),
                size=a.shape,
            )

    def split(self, product: Callable) -> object:
        """Re(A) X + i Im(A) X, each a real product with the columns Re X, Im X side by side."""
        torch = self.torch
        rows, columns = self.x.shape
        flat = torch.view_as_real(self.x).reshape(rows, 2 * columns)
        result = product(self.re, flat).view(rows, columns, 2)
        result = torch.view_as_complex(result)
        if self.im._nnz() == 0:
            return result
        other = torch.view_as_complex(product(self.im, flat).view(rows, columns, 2))
        return result.add_(other, alpha=1j)

    def choose(self, threads: int, expected: np.ndarray) -> dict:
        """Tries every way, the best of three after a warm-up; keeps the fastest that is right."""
        self.torch.set_num_threads(threads)
        tried: dict[str, float | str] = {}
        for name, method in self.methods.items():
            try:
                error = relative_error(method().numpy(), expected)
                seconds = min(timed(method)[0] for _ in range(3))
                tried[name] = seconds if error < 1e-5 else f"wrong by {error:.1e}"
            except (RuntimeError, NotImplementedError) as error:
                tried[name] = str(error).splitlines()[0]
        right = {name: value for name, value in tried.items() if isinstance(value, float)}
        self.chosen = min(right, key=right.get, default="")
        return tried

    def product(self, threads: int, method: str | None) -> dict:
        """Times the chosen way, or the one named."""
        method = method or self.chosen
        if not method:
            raise RuntimeError("no way of torch gives the product")
        self.torch.set_num_threads(threads)
        seconds, _ = timed(self.methods[method])
        return {"seconds": seconds, "method": method}


def part(a: sp.csr_matrix, values: np.ndarray) -> sp.csr_matrix:
    """A real matrix in the pattern of `a`, less the entries that are rounding errors."""
    values = values.astype(np.float32)
    limit = np.abs(a.data).max(initial=0) * np.finfo(np.float32).eps
    values[np.abs(values) <= limit] = 0
    result = sp.csr_matrix((values, a.indices, a.indptr), a.shape, copy=True)
    result.eliminate_zeros()
    return result


class OutOfTime(Exception):
    """A cut-off was reached."""


def cycles_within(graph: object, bound: int, limit: int) -> dict:
    """Counts cycles of at most `bound` edges by networkx for at most `limit` seconds."""
    import networkx as nx

    def stop(*_: object) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(limit)
    start = time.perf_counter()
    cycles, finished = 0, False
    try:
        for _ in nx.simple_cycles(graph, length_bound=bound):
            cycles += 1
        finished = True
    except OutOfTime:
        pass
    finally:
        signal.alarm(0)
    return {"seconds": time.perf_counter() - start, "cycles": cycles, "finished": finished}


def smallest(a: sp.csr_matrix, count: int, tolerance: float, limit: int) -> dict:
    """The smallest eigenpairs by scipy's Lanczos, for at most `limit` seconds."""
    from scipy.sparse.linalg import eigsh

    def stop(*_: object) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(limit)
    start = time.perf_counter()
    try:
        values, vectors = eigsh(a, count, which="SA", tol=tolerance, maxiter=10**6)
    except OutOfTime:
        return {"seconds": time.perf_counter() - start, "finished": False}
    finally:
        signal.alarm(0)
    seconds = time.perf_counter() - start
    residual = float(np.linalg.norm(a @ vectors - vectors * values, axis=0).max())
    answer = {"seconds": seconds, "finished": True, "residual": residual}
    return answer | {"eigenvalues": values.tolist()}


class Worker:
    """Holds matrices and graphs between requests."""

    def __init__(self) -> None:
        self.a: sp.csr_matrix | None = None
        self.x: np.ndarray | None = None
        self.torch: TorchProducts | None = None
        self.files_read: set[str] = set()
        self.networkx: object | None = None
        self.igraph: object | None = None
        self.dense: np.ndarray | None = None

    def load_product(self, path: str, threads: int = 2) -> dict:
        folder = Path(path)
        self.a = sp.csr_matrix(sp.load_npz(folder / "op.npz"), dtype=np.complex64)
        self.a.sort_indices()
        self.x = np.ascontiguousarray(np.load(folder / "x.npy"), dtype=np.complex64)
        answer = {"nodes": self.a.shape[0], "entries": self.a.nnz, "columns": self.x.shape[1]}
        answer |= {"numpy": np.__version__, "scipy": scipy.__version__}
        product = self.a @ self.x
        try:
            self.torch = TorchProducts(self.a, self.x)
        except ImportError as error:
            self.torch = None
            return answer | {"torch": None, "torch_problem": str(error)}
        answer["torch_tried"] = self.torch.choose(threads, product)
        return answer | {"torch": self.torch.torch.__version__, "torch_method": self.torch.chosen}

    def loaded(self) -> tuple[sp.csr_matrix, np.ndarray]:
        if self.a is None or self.x is None:
            raise RuntimeError("load_product comes first")
        return self.a, self.x

    def scipy_product(self) -> dict:
        a, x = self.loaded()
        return {"seconds": timed(lambda: a @ x)[0]}

    def torch_product(self, threads: int = 2, method: str | None = None) -> dict:
        self.loaded()
        if self.torch is None:
            raise RuntimeError("torch is not installed")
        return self.torch.product(threads, method)

    def scipy_propagate(self, order: int) -> dict:
        a, x = self.loaded()
        return {"seconds": timed(lambda: linear_rank(a, x, order))[0]}

    def scipy_whole(self, path: str, order: int, charge: float) -> dict:
        return {"seconds": timed(lambda: whole(Path(path), order, charge))[0]}

    def pandas_edges(
        self, path: str, sep: str = "\t", comment: str | None = None, dtype: str | None = None
    ) -> dict:
        import pandas as pd

        read = lambda: pd.read_csv(
            path,
            sep=sep,
            comment=comment,
            dtype=dtype,
            header=None,
            engine="c",
            compression="zip" if path.endswith(".zip") else "infer",
        )
        if path not in self.files_read:
            read()
            self.files_read.add(path)
        seconds, table = timed(read)
        return {"seconds": seconds, "rows": len(table), "columns": table.shape[1]}

    def ensmallen_edges(self, path: str, numeric: bool) -> dict:
        from ensmallen import Graph

        read = lambda: Graph.from_csv(
            edge_path=path,
            edge_list_separator="\t",
            edge_list_header=False,
            sources_column_number=0,
            destinations_column_number=1,
            edge_list_numeric_node_ids=numeric,
            directed=True,
            verbose=False,
        )
        seconds, graph = timed(read)
        nodes, edges = graph.get_number_of_nodes(), graph.get_number_of_directed_edges()
        return {"seconds": seconds, "nodes": nodes, "edges": edges}

    def load_cycles(self, path: str, nodes: int) -> dict:
        import networkx as nx

        edges = [tuple(edge) for edge in np.loadtxt(path, dtype=int, delimiter=",").tolist()]
        self.networkx = nx.DiGraph(edges)
        try:
            import igraph
        except ImportError:
            return {"networkx": nx.__version__}
        self.igraph = igraph.Graph(nodes, edges, directed=True)
        return {"networkx": nx.__version__, "igraph": igraph.__version__}

    def networkx_cycles(self) -> dict:
        import networkx as nx

        seconds, cycles = timed(lambda: sum(1 for _ in nx.simple_cycles(self.networkx)))
        return {"seconds": seconds, "cycles": cycles}

    def igraph_cycles(self) -> dict:
        seconds, cycles = timed(lambda: self.igraph.simple_cycles())
        return {"seconds": seconds, "cycles": len(cycles)}

    def igraph_search(self) -> dict:
        # No cycle has so many nodes, so all are found and none is handed over.
        least = self.igraph.vcount() + 1
        seconds, cycles = timed(lambda: self.igraph.simple_cycles(min=least))
        return {"seconds": seconds, "cycles": len(cycles)}

    def networkx_bounded(self, path: str, bound: int, limit: int) -> dict:
        import networkx as nx

        edges = np.loadtxt(path, dtype=int, usecols=(0, 1)).tolist()
        return cycles_within(nx.DiGraph(edges), bound, limit)

    def load_spectrum(self, path: str) -> dict:
        self.dense = sp.load_npz(path).toarray()
        return {"nodes": len(self.dense), "scipy": scipy.__version__}

    def scipy_eigvalsh(self) -> dict:
        seconds, values = timed(lambda: scipy.linalg.eigvalsh(self.dense))
        return {"seconds": seconds, "eigenvalues": values.tolist()}

    def scipy_eigh(self) -> dict:
        return {"seconds": timed(lambda: scipy.linalg.eigh(self.dense))[0]}

    def scipy_eigsh(self, path: str, count: int, tolerance: float, limit: int) -> dict:
        return smallest(sp.csr_matrix(sp.load_npz(path)), count, tolerance, limit)

    def answer(self, request: dict) -> dict:
        """Does what a request asks."""
        tasks = {
            "load_product": self.load_product,
            "scipy_product": self.scipy_product,
            "torch_product": self.torch_product,
            "scipy_propagate": self.scipy_propagate,
            "scipy_whole": self.scipy_whole,
            "pandas_edges": self.pandas_edges,
            "ensmallen_edges": self.ensmallen_edges,
            "load_cycles": self.load_cycles,
            "networkx_cycles": self.networkx_cycles,
            "igraph_cycles": self.igraph_cycles,
            "igraph_search": self.igraph_search,
            "networkx_bounded": self.networkx_bounded,
            "load_spectrum": self.load_spectrum,
            "scipy_eigvalsh": self.scipy_eigvalsh,
            "scipy_eigh": self.scipy_eigh,
            "scipy_eigsh": self.scipy_eigsh,
        }
        name = request.pop("task", None)
        if name not in tasks:
            return {"error": f"unknown task {name!r}; known are {', '.join(tasks)}, quit"}
        try:
            return tasks[name](**request)
        except Exception as error:  # one bad request must not end the worker
            return {"error": f"{name}: {type(error).__name__}: {error}"}


def self_test() -> int:
    """Torch's products and the propagation against dense ones, cycles against their number."""
    rng = np.random.default_rng(5)
    dense = rng.standard_normal((60, 60)) + 1j * rng.standard_normal((60, 60))
    dense *= (rng.random((60, 60)) < 0.1) / 10
    dense[3] = dense[3].real
    a = sp.csr_matrix(dense.astype(np.complex64))
    x = (rng.standard_normal((60, 5)) + 1j * rng.standard_normal((60, 5))).astype(np.complex64)
    powers = [np.linalg.matrix_power(dense, k) * 2 * (8 - k) / 72 for k in range(8)]
    checks = {"propagation": relative_error(linear_rank(a, x, 8), sum(powers) @ x) < 1e-5}
    for name, matrix in (("complex", a), ("real", sp.csr_matrix(a.real, dtype=np.complex64))):
        tried = TorchProducts(matrix, x).choose(2, matrix.toarray() @ x)
        for method, value in tried.items():
            checks[f"{name} matrix, {method}"] = isinstance(value, float)
    # A complete digraph of n nodes has the sum of n! / (n - m)! / m over m cycles.
    edges = [(u, v) for u in range(6) for v in range(6) if u != v]
    worker = Worker()
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.writelines(f"{u},{v}\n" for u, v in edges)
        file.flush()
        worker.load_cycles(file.name, 6)
    for task, cycles in (("networkx_cycles", 409), ("igraph_cycles", 409), ("igraph_search", 0)):
        checks[task] = getattr(worker, task)()["cycles"] == cycles
    bounded = cycles_within(worker.networkx, 3, 20)
    checks["bounded cycles"] = bounded["cycles"] == 15 + 40 and bounded["finished"]
    large = type(worker.networkx)((u, v) for u in range(60) for v in range(60) if u != v)
    checks["cut-off"] = not cycles_within(large, 60, 1)["finished"]
    # A path has no repeated eigenvalue, which a single start vector could miss.
    path = sp.diags([np.full(39, -1), np.full(40, 2), np.full(39, -1)], [-1, 0, 1], dtype=complex)
    found = smallest(path.tocsr(), 3, 1e-10, 20)
    exact = [2 - 2 * np.cos(np.pi * k / 41) for k in (1, 2, 3)]
    checks["smallest eigenvalues"] = np.allclose(sorted(found["eigenvalues"]), exact, atol=1e-9)
    checks["its residual"] = found["residual"] < 1e-8
    failed = [name for name, right in checks.items() if not right]
    for name in failed:
        print(f"FAIL {name}")
    print(f"{len(checks) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    worker = Worker()
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            request = json.loads(line)
        except json.JSONDecodeError as error:
            request = None
            answer = {"error": f"not JSON: {error}"}
        if isinstance(request, dict):
            if request.get("task") == "quit":
                break
            answer = worker.answer(request)
        elif request is not None:
            answer = {"error": "a request is one JSON object"}
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
