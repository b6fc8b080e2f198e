"""Writes features in every kind of file that can stay on disk, and compares what magnon makes of them with numpy.

    check_on_disk.py MAGNON_BINARY WORK_DIR
    check_on_disk.py --self-test

Parquet is written by pyarrow, arrays by numpy, safetensors by the specification of the format. What is compared is S²X + X
in blocks of columns, against the operator that scipy builds from its definition, and its rounding to half precision.
"""

import argparse
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import scipy.sparse as sp

from tally import Tally, check_binary

NODES, COLUMNS, CHARGE = 700, 12, 0.25


def operator(edges: np.ndarray, nodes: int) -> sp.csr_array:
    """D^-1/2 (A_s ⊙ T_q) D^-1/2 with self loops, from its definition."""
    a = sp.coo_array((np.ones(len(edges)), edges.T), shape=(nodes, nodes)).tocsr()
    a.data[:] = 1
    symmetric = a.maximum(a.T)
    phase = (a - a.T).tocsr()
    turned = symmetric.astype(complex).tolil()
    rows, columns = phase.nonzero()
    turned[rows, columns] = np.exp(2j * np.pi * CHARGE * np.sign(phase[rows, columns]))
    scale = sp.diags_array(1 / np.sqrt(symmetric.sum(axis=1) + 1))
    return sp.csr_array(scale @ (turned.tocsr() + sp.eye_array(nodes)) @ scale)


def write_safetensors(path: Path, tensors: dict[str, tuple[str, np.ndarray]]) -> None:
    """Length of the header, header in JSON, and the bytes of all tensors."""
    header, payload = {}, b""
    for name, (dtype, array) in tensors.items():
        start = len(payload)
        payload += array.tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [start, len(payload)]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + payload)


def write_files(x: np.ndarray, work: Path, order: np.ndarray) -> list[Path]:
    """The same numbers, which half precision and bfloat16 hold exactly, in all kinds of files."""
    np.save(work / "half.npy", x.astype(np.float16))
    np.save(work / "fortran.npy", np.asfortranarray(x.astype(np.float64)))
    bias = ("F32", np.zeros(3, dtype=np.float32))
    write_safetensors(work / "f16.safetensors", {"bias": bias, "x": ("F16", x.astype(np.float16))})
    brain = (x.view(np.uint32) >> 16).astype(np.uint16)
    write_safetensors(work / "bf16.safetensors", {"other": ("BF16", brain), "bias": bias})
    columns = {f"c{k}": x[order, k] for k in range(COLUMNS)}
    table = pa.table({"text": [f"t{k}" for k in range(NODES)], **columns, "id": order})
    pa.parquet.write_table(table, work / "ids.parquet", compression="zstd", row_group_size=100)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(x.astype(np.float64).ravel()), COLUMNS)
    pa.parquet.write_table(pa.table({"embedding": lists}), work / "lists.parquet", row_group_size=333)
    names = ["half.npy", "fortran.npy", "f16.safetensors", "bf16.safetensors", "ids.parquet", "lists.parquet"]
    return [work / name for name in names]


def check(magnon: str, path: Path, graph: Path, expected: np.ndarray, work: Path) -> tuple[int, list[str]]:
    """Number of checks that passed, and what failed."""
    found = {}
    for dtype in ["float32", "float16"]:
        output = work / f"{dtype}.npy"
        line = [magnon, "propagate", graph, "--features", path, "--feature-norm", "none", "--charge", str(CHARGE)]
        line += ["--filter", "polynomial", "--coefficients", "1,0,1", "--dtype", dtype, "-o", output]
        # Room for five of the columns at a time.
        line += ["--memory", NODES * (224 + 12 * 5), "--json", "--quiet"]
        done = subprocess.run([str(word) for word in line], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise SystemExit(f"{path}: {done.stderr.strip()}")
        if json.loads(done.stdout)["blocks"] < 2:
            raise SystemExit(f"{path}: all columns were filtered at once")
        found[dtype] = np.load(output)
    single = found["float32"]
    parts = np.stack([single.real, single.imag], axis=-1)
    held = [
        (np.abs(single - expected).max() < 1e-4, "the numbers differ"),
        (np.array_equal(found["float16"], parts.astype(np.float16)), "half precision is rounded otherwise"),
    ]
    return sum(truth for truth, _ in held), [words for truth, words in held if not truth]


def self_test() -> None:
    """A ring of three turns by a quarter each way."""
    s = operator(np.array([[0, 1], [1, 2], [2, 0]]), 3).toarray()
    assert np.allclose(np.diag(s), 1 / 3) and np.isclose(s[0, 1], 1j / 3) and np.isclose(s[1, 0], -1j / 3)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("magnon", nargs="?")
    parser.add_argument("work", nargs="?", type=Path)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    magnon, tally = check_binary(arguments.magnon), Tally()
    work = arguments.work / "on-disk"
    work.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(5)
    ring = np.stack([np.arange(NODES), (np.arange(NODES) + 1) % NODES], axis=1)
    edges = np.unique(np.concatenate([ring, random.integers(0, NODES, (4 * NODES, 2))]), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    text, graph = work / "edges.txt", work / "g.magnon"
    np.savetxt(text, edges, fmt="%d")
    subprocess.run([magnon, "pack", text, "-o", graph, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    x = (random.integers(-100, 100, (NODES, COLUMNS)) / 8).astype(np.float32)
    s = operator(edges, NODES)
    expected = s @ (s @ x) + x
    for path in write_files(x, work, random.permutation(NODES)):
        passed, failures = check(magnon, path, graph, expected, work)
        tally.graph(path.name, "claims", passed, failures)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
