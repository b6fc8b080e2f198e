"""Calls on a local Ray cluster give what local calls give, also where workers die and the driver is interrupted."""

import json
import os

import numpy as np
import pytest

ray = pytest.importorskip("ray")

import magnon  # noqa: E402
import magnon.ray  # noqa: E402

DRAW = np.random.default_rng(3)
EDGES = DRAW.integers(0, 300, (2400, 2))
X = DRAW.standard_normal((300, 21)).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80 << 20)
    yield
    ray.shutdown()


@pytest.fixture
def packed(tmp_path, command):
    np.savetxt(tmp_path / "edges.txt", EDGES, fmt="%d")
    command("pack", "edges.txt", "-o", "g.magnon")
    np.save(tmp_path / "x.npy", X)
    return tmp_path


def test_propagate_equals_the_local_call():
    graph = magnon.as_dataset(EDGES, X)
    expected = magnon.propagate(graph, charge="1/3", order=6)
    for columns in (8, 5):
        assert np.array_equal(magnon.ray.propagate(graph, charge="1/3", order=6, columns=columns), expected)
    real = magnon.ray.propagate(graph, charge=0, filter="ppr", alpha=0.8)
    assert np.array_equal(real, magnon.propagate(graph, charge=0, filter="ppr", alpha=0.8))
    # A charge that is left open is that of the whole graph.
    assert np.array_equal(magnon.ray.propagate(graph), magnon.propagate(graph))


def test_packed_graphs_are_mapped_by_the_workers(packed):
    names = [packed / "g.magnon", packed / "x.npy"]
    found = magnon.ray.propagate(*map(str, names), charge="1/4")
    assert np.array_equal(found, magnon.propagate(EDGES, X, charge="1/4"))


def test_workers_that_die_are_replaced(packed, monkeypatch):
    inner, marks = magnon.ray._filter, packed / "marks"
    marks.mkdir()

    def dies_once(graph, block, settings, threads):
        mark = marks / str(float(block[0, 0]))
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
        return inner(graph, block, settings, threads)

    monkeypatch.setattr(magnon.ray, "_filter", dies_once)
    found = magnon.ray.propagate(magnon.as_dataset(EDGES, X), charge="1/4")
    assert len(list(marks.iterdir())) == 3
    assert np.array_equal(found, magnon.propagate(EDGES, X, charge="1/4"))


def test_a_task_that_always_fails_is_an_error(monkeypatch):
    def fails(graph, block, settings, threads):
        raise ValueError("not this block")

    monkeypatch.setattr(magnon.ray, "_filter", fails)
    with pytest.raises(ValueError, match="not this block"):
        magnon.ray.propagate(magnon.as_dataset(EDGES, X), charge="1/4")


def test_an_interrupted_call_is_gone_on_with(packed):
    graph, output = magnon.as_dataset(EDGES, X), packed / "out.npy"
    told = []

    def stop(done, total, words):
        told.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        magnon.ray.propagate(graph, charge="1/4", columns=7, output=output, progress=stop)
    assert told == [(1, 3)] and not output.exists()
    with open(f"{output}.done", "a") as lines:
        lines.write("14 2")  # a kill in mid-line
    seen = []
    found = magnon.ray.propagate(
        graph, charge="1/4", columns=7, output=output, progress=lambda *step: seen.append(step[0])
    )
    assert seen == [2, 3]
    assert np.array_equal(found, magnon.propagate(EDGES, X, charge="1/4"))
    assert sorted(path.name for path in packed.iterdir()) == ["edges.txt", "g.magnon", "out.npy", "x.npy"]


def test_features_may_exceed_the_object_store():
    wide = DRAW.standard_normal((40_000, 600)).astype(np.float32)  # 96 MB in a store of 80
    ring = np.stack([np.arange(40_000), (np.arange(40_000) + 1) % 40_000], axis=1)
    found = magnon.ray.propagate(ring, wide, charge="1/4", order=2, columns=40)
    assert np.array_equal(found[:, ::97], magnon.propagate(ring, wide[:, ::97].copy(), charge="1/4", order=2))


def test_compare_equals_the_local_call():
    settings = {"splits": 2, "draws": 1, "seed": 4}
    local = magnon.compare("cyclic:nodes=60,columns=4", ["mgc", "mlp"], **settings)
    found = magnon.ray.compare("cyclic:nodes=60,columns=4", ["mgc", "mlp"], **settings)

    def without_times(comparison):
        told = json.loads(json.dumps(comparison, default=dict))
        told.pop("seconds", None)
        for row in told["models"]:
            for key in ("seconds", "train_seconds", "filter_seconds"):
                row.pop(key)
        return told

    assert without_times(found) == without_times(local)


def test_tune_equals_the_local_call():
    settings = {"trials": 2, "epochs": 10, "charge": "1/3", "seed": 2}
    local = magnon.tune("cyclic:nodes=60,columns=4", **settings)
    assert magnon.ray.tune("cyclic:nodes=60,columns=4", **settings).best == local.best
