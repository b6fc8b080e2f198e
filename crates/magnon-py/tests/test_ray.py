"""Calls on a local Ray cluster give what local calls give, also where workers die and the driver is interrupted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import needed

ray = needed("ray")

import magnon  # noqa: E402
import magnon.ray  # noqa: E402
from magnon import _shipping, _tasks  # noqa: E402

# One process has the cluster, and all tests on it.
pytestmark = pytest.mark.xdist_group("ray")

DRAW = np.random.default_rng(3)
EDGES = DRAW.integers(0, 300, (2400, 2))
X = DRAW.standard_normal((300, 21)).astype(np.float32)
SMALL = "cyclic:nodes=60,columns=4"


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


@pytest.fixture(scope="module")
def expected():
    return magnon.propagate(EDGES, X, charge="1/4")


def test_propagate_equals_the_local_call():
    graph = magnon.as_dataset(EDGES, X)
    expected = magnon.propagate(graph, charge="1/3", order=6)
    for columns in (8, 5):
        assert np.array_equal(magnon.ray.propagate(graph, charge="1/3", order=6, columns=columns), expected)
    real = magnon.ray.propagate(graph, charge=0, filter="ppr", alpha=0.8)
    assert np.array_equal(real, magnon.propagate(graph, charge=0, filter="ppr", alpha=0.8))
    # A charge that is left open is that of the whole graph.
    assert np.array_equal(magnon.ray.propagate(graph), magnon.propagate(graph))


def test_unknown_keywords_are_refused():
    for call in (magnon.ray.propagate, magnon.ray.compare, magnon.ray.tune):
        with pytest.raises(TypeError, match="split_sed.*did you mean split_seed"):
            call(SMALL, split_sed=None)


def test_workers_read_and_write_files_that_they_see(packed, expected, monkeypatch):
    inner = magnon.ray._filter

    def checked(job, span, block):
        assert block is None and job.graph.chunks is None
        found = inner(job, span, block)
        assert (found is None) == (job.folder is not None)
        return found

    monkeypatch.setattr(magnon.ray, "_filter", checked)
    names = [str(packed / "g.magnon"), str(packed / "x.npy")]
    assert np.array_equal(magnon.ray.propagate(*names, charge="1/4"), expected)
    found = magnon.ray.propagate(*names, charge="1/4", output=packed / "out.npy", shared=True)
    assert np.array_equal(found, expected) and np.array_equal(np.load(packed / "out.npy"), expected)
    assert np.array_equal(magnon.ray.propagate(*names, charge="1/4", columns=30, output=packed / "out.npy"), expected)
    assert sorted(path.name for path in packed.iterdir()) == ["edges.txt", "g.magnon", "out.npy", "x.npy"]


@pytest.fixture
def tables(packed):
    """The features as tensors, and as a table with ids in another order and ids without an edge."""
    pa, parquet = needed("pyarrow"), needed("pyarrow.parquet")
    tensors = {"other": {"dtype": "F32", "shape": [21], "data_offsets": [0, 84]}}
    tensors["x"] = {"dtype": "F32", "shape": list(X.shape), "data_offsets": [84, 84 + X.nbytes]}
    header = json.dumps(tensors).encode()
    parts = [len(header).to_bytes(8, "little"), header, X[0].tobytes(), X.tobytes()]
    (packed / "x.safetensors").write_bytes(b"".join(parts))
    order = DRAW.permutation(300)
    columns = {f"f{k}": X[order, k] for k in range(21)}
    table = pa.table({"id": order, "colour": ["red"] * 300, **columns})
    parquet.write_table(table, packed / "x.parquet", row_group_size=70)
    more = pa.table({"id": [900, 901], "colour": ["blue"] * 2, **{name: np.ones(2, np.float32) for name in columns}})
    parquet.write_table(pa.concat_tables([table, more]), packed / "more.parquet")
    np.save(packed / "wide.npy", np.asfortranarray(X, dtype=np.float64))
    return packed


@pytest.mark.parametrize("shared", [True, False])
def test_features_stay_in_files_of_any_kind(tables, expected, shared):
    graph = str(tables / "g.magnon")
    settings = {"charge": "1/4", "shared": shared}
    for name in ("x.safetensors", "x.parquet", "wide.npy"):
        found = magnon.ray.propagate(graph, tables / name, **settings)
        assert np.array_equal(found, expected), name
        assert np.array_equal(found, magnon.propagate(graph, tables / name, charge="1/4")), name
    found = magnon.ray.propagate(graph, tables / "more.parquet", extra_ids="drop", **settings)
    assert np.array_equal(found, expected)


def test_files_of_features_are_refused_as_by_the_command_line(tables, command):
    graph = str(tables / "g.magnon")

    def refused(name, **settings):
        with pytest.raises(magnon.errors.MagnonError) as caught:
            magnon.ray.propagate(graph, tables / name, charge="1/4", **settings)
        flags = [f"--{key.replace('_', '-')}={value}" for key, value in settings.items()]
        words = ["propagate", graph, "--features", tables / name, "--memory=1G", "-o", "out.npy", *flags]
        with pytest.raises(AssertionError) as told:
            command(*words)
        assert str(caught.value) in str(told.value)
        return str(caught.value)

    assert "extra-ids drop" in refused("more.parquet")
    assert "name" in refused("x.parquet", id_column="name")
    np.save(tables / "short.npy", X[:-1])
    assert "299 rows" in refused("short.npy")
    wrong = X.copy()
    wrong[7, 20] = np.nan
    np.save(tables / "wrong.npy", wrong)
    assert "row 7, column 20 is NaN" in refused("wrong.npy")
    refused("none.npy")


def test_features_by_name_are_those_of_the_local_call(tables):
    # Other files are read whole, and features made.
    np.savetxt(tables / "x.csv", X, delimiter=",", fmt="%.9g", header=",".join(f"f{k}" for k in range(21)), comments="")
    for graph in (tables / "g.magnon", tables / "edges.txt"):
        for features in ("degree", tables / "x.csv", tables / "x.parquet"):
            local = magnon.propagate(graph, features, charge="1/4")
            assert np.array_equal(magnon.ray.propagate(graph, features, charge="1/4"), local)
    local = magnon.propagate(EDGES, "degree", charge="1/4")
    assert np.array_equal(magnon.ray.propagate(EDGES, "degree", charge="1/4"), local)
    for call in (magnon.propagate, magnon.ray.propagate):
        with pytest.raises(magnon.errors.ArgumentError, match="read the file first"):
            call(EDGES, tables / "x.npy", charge="1/4")


def _as_if_elsewhere(monkeypatch):
    """The driver's files look as if they were others than those that workers see under the same names."""
    of = _shipping.SharedFile.of

    def other(path, *, has_checksums):
        file = of(path, has_checksums=has_checksums)
        return _shipping.SharedFile(file.path, has_checksums, file.check[::-1])

    monkeypatch.setattr(_shipping.SharedFile, "of", other)


@pytest.mark.parametrize("output", [None, "out.npy"])
def test_files_that_workers_do_not_see_are_shipped(packed, output, monkeypatch):
    monkeypatch.setattr(_shipping, "CHUNK", 5000)
    names = [str(packed / "g.magnon"), str(packed / "x.npy")]
    # Workers keep operators; another charge makes them open the graph.
    charge = "1/6" if output else "1/5"
    settings = {"charge": charge, "output": output and packed / output}
    expected = magnon.propagate(EDGES, X, charge=charge)
    assert np.array_equal(magnon.ray.propagate(*names, shared=False, **settings), expected)
    _as_if_elsewhere(monkeypatch)
    assert np.array_equal(magnon.ray.propagate(*names, **settings), expected)
    copy = _copy(names[0])
    assert copy.read_bytes() == Path(names[0]).read_bytes()
    copy.unlink()
    with pytest.raises(magnon.errors.DataError, match="does not see this file"):
        magnon.ray.propagate(*names, shared=True, charge="1/9")


def _copy(name):
    """This machine's copy of a graph that was shipped."""
    return _shipping._folder() / f"{_shipping.SharedFile.of(name, has_checksums=True).check}.magnon"


def test_a_copy_that_was_damaged_is_written_anew(packed):
    name = str(packed / "g.magnon")
    whole = Path(name).read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    for charge, left in [("1/7", whole[:-2000]), ("1/8", bytes(damaged))]:
        _copy(name).write_bytes(left)
        found = magnon.ray.propagate(name, X, charge=charge, shared=False)
        assert np.array_equal(found, magnon.propagate(EDGES, X, charge=charge))
        assert _copy(name).read_bytes() == whole
    _copy(name).unlink()


def test_workers_that_die_are_replaced(tmp_path, expected, monkeypatch):
    inner = magnon.ray._filter

    def dies_once(job, span, block):
        mark = tmp_path / str(span[0])
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
        return inner(job, span, block)

    monkeypatch.setattr(magnon.ray, "_filter", dies_once)
    found = magnon.ray.propagate(magnon.as_dataset(EDGES, X), charge="1/4")
    assert len(list(tmp_path.iterdir())) == 3
    assert np.array_equal(found, expected)


def test_a_task_that_always_fails_is_an_error(packed, monkeypatch):
    def fails(job, span, block):
        raise ValueError("not this block")

    inner = magnon.ray._filter
    monkeypatch.setattr(magnon.ray, "_filter", fails)
    with pytest.raises(ValueError, match="not this block") as caught:
        magnon.ray.propagate(magnon.as_dataset(EDGES, X), charge="1/4")
    assert type(caught.value) is ValueError
    monkeypatch.setattr(magnon.ray, "_filter", inner)
    wrong = X.copy()
    wrong[7, 20] = np.nan
    with pytest.raises(magnon.errors.DataError, match="row 7, column 4 is NaN"):
        magnon.ray.propagate(packed / "g.magnon", wrong, charge="1/4")


def test_a_task_that_always_kills_its_worker_is_an_error(monkeypatch):
    monkeypatch.setattr(_tasks, "RETRIES", 1)
    monkeypatch.setattr(magnon.ray, "_filter", lambda job, span, block: os.kill(os.getpid(), 9))
    with pytest.raises(magnon.errors.MagnonError, match="its worker died 2 times"):
        magnon.ray.propagate(magnon.as_dataset(EDGES, X), charge="1/4", columns=21)


def test_an_interrupted_call_is_gone_on_with(packed, expected):
    names = [str(packed / "g.magnon"), str(packed / "x.npy")]
    output = packed / "out.npy"
    told = []

    def stop(done, total, words):
        told.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        magnon.ray.propagate(*names, charge="1/4", columns=3, output=output, progress=stop)
    assert told == [(1, 7)] and not output.exists()
    left = {path.name for path in (packed / "out.npy.ray").glob("*.npy")}
    # What a kill leaves of a block is none, whatever its name.
    (packed / "out.npy.ray" / "18-21.npy").write_bytes(b"\x93NUMPY")
    (packed / "out.npy.ray" / "18-21.npy.there-1.part").write_bytes(b"\x93NUMPY")
    seen = []
    found = magnon.ray.propagate(
        *names, charge="1/4", columns=3, output=output, progress=lambda *step: seen.append(step)
    )
    assert seen[0][0] > len(left - {"18-21.npy"}) > 0 and seen[-1] == (7, 7, "propagate")
    assert np.array_equal(found, expected)
    assert sorted(path.name for path in packed.iterdir()) == ["edges.txt", "g.magnon", "out.npy", "x.npy"]


def test_blocks_of_other_features_are_not_gone_on_with(tmp_path, expected):
    def stop(*_):
        raise KeyboardInterrupt

    for x, graph in [(2 * X, EDGES), (X, EDGES[:-1])]:
        with pytest.raises(KeyboardInterrupt):
            magnon.ray.propagate(graph, x, charge="1/4", output=tmp_path / "out.npy", progress=stop)
    found = magnon.ray.propagate(EDGES, X, charge="1/4", output=tmp_path / "out.npy")
    assert np.array_equal(found, expected)


def test_features_may_exceed_the_object_store():
    wide = DRAW.standard_normal((40_000, 600)).astype(np.float32)  # 96 MB in a store of 80
    ring = np.stack([np.arange(40_000), (np.arange(40_000) + 1) % 40_000], axis=1)
    found = magnon.ray.propagate(ring, wide, charge="1/4", order=2, columns=40)
    assert np.array_equal(found[:, ::97], magnon.propagate(ring, wide[:, ::97].copy(), charge="1/4", order=2))


def _figures(told, rows):
    """Everything but times."""

    def plain(value):
        return value.tolist() if hasattr(value, "tolist") else dict(value)

    told = json.loads(json.dumps(told, default=plain))
    told.pop("seconds", None)
    for row in told[rows]:
        for key in ("seconds", "train_seconds", "filter_seconds"):
            row.pop(key, None)
    return told


def test_compare_equals_the_local_call(tmp_path):
    settings = {"splits": 2, "draws": 1, "seed": 4}
    local = magnon.compare(SMALL, ["mgc", "mlp"], **settings)
    steps, journal = [], tmp_path / "runs.jsonl"

    def stop(done, total, words):
        steps.append((done, total, words))
        if len(steps) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        magnon.ray.compare(SMALL, ["mgc", "mlp"], journal=journal, progress=stop, **settings)
    assert [step[0] for step in steps] == [1, 2, 3]
    assert len(journal.read_bytes().splitlines()) == 4
    found = magnon.ray.compare(SMALL, ["mgc", "mlp"], journal=journal, **settings)
    assert _figures(found, "models") == _figures(local, "models")
    assert len(journal.read_bytes().splitlines()) == 1 + steps[0][1]


def test_compare_searches_as_the_local_call(tmp_path):
    """Trials of all searches and runs are tasks, kept in one journal that an interrupted call goes on from."""
    settings = {"splits": 2, "draws": 1, "seed": 4, "tune_trials": 4}
    local = magnon.compare(SMALL, ["mgc"], **settings)
    steps, journal = [], tmp_path / "runs.jsonl"

    def stop(done, total, words):
        steps.append(done)
        if len(steps) == stops:
            raise KeyboardInterrupt

    # In the midst of the searches, and of the runs: 4 searches of 1 + 3 + 1 + 1 trainings, then 6 runs and 2 on coins.
    for stops in (7, 20):
        steps.clear()
        begun = _trained(journal)
        with pytest.raises(KeyboardInterrupt):
            magnon.ray.compare(SMALL, ["mgc"], journal=journal, progress=stop, **settings)
        assert steps == list(range(begun + 1, begun + stops + 1))
        assert _trained(journal) == begun + stops
    stops = 0
    found = magnon.ray.compare(SMALL, ["mgc"], journal=journal, progress=stop, **settings)
    assert _figures(found, "models") == _figures(local, "models")
    assert found.tuned.trials == 4
    keys = [json.loads(line)["record"]["key"] for line in journal.read_bytes().splitlines()[1:]]
    assert len(keys) == len(set(keys)), "nothing was done twice"
    # The local call finds all of it done, searches among them.
    before = journal.read_bytes()
    keywords = json.dumps({"models": ["mgc"], "splits": 2, "draws": 1, "seed": 4, "tune_trials": 4})
    magnon._magnon.compare(magnon.load_dataset(SMALL, seed=4)._inner, keywords, None, str(journal))
    assert journal.read_bytes() == before


def _trained(journal):
    """Lines of a journal that are trainings."""
    lines = journal.read_bytes().splitlines()[1:] if journal.exists() else []
    return sum("config" not in json.loads(line)["record"] for line in lines)


def test_comparisons_that_cannot_be_meant():
    with pytest.raises(magnon.errors.ArgumentError, match="tune"):
        magnon.ray.compare(SMALL, ["mlp"], tune=1, tune_trials=3)
    with pytest.raises(magnon.errors.ArgumentError, match="number of trials is 0"):
        magnon.ray.compare(SMALL, ["mlp"], tune_trials=0)


@pytest.mark.parametrize("search", ["halving", "random"])
def test_tune_equals_the_local_call(search, tmp_path, monkeypatch):
    settings = {"trials": 7, "epochs": 10, "charge": "1/3", "seed": 2, "search": search}
    local = magnon.tune(SMALL, **settings)
    inner, steps, journal = magnon.ray._tune, [], tmp_path / "trials.jsonl"

    def dies_once(call, wave, part):
        mark = tmp_path / "killed"
        if wave.known.count(10) > 2 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
        return inner(call, wave, part)

    def watch(done, total, words):
        steps.append(done)
        if done == 4 and len(steps) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(magnon.ray, "_tune", dies_once)
    with pytest.raises(KeyboardInterrupt):
        magnon.ray.tune(SMALL, journal=journal, progress=watch, **settings)
    found = magnon.ray.tune(SMALL, journal=journal, progress=watch, **settings)
    assert steps[:4] == [1, 2, 3, 4] and steps[4:] == list(range(5, len(steps) + 1))
    assert (tmp_path / "killed").exists()
    assert _figures(found, "trials") == _figures(local, "trials")


def test_time_that_is_over_ends_a_search():
    found = magnon.ray.tune(SMALL, trials=40, epochs=10, charge="1/3", minutes=1e-6)
    assert len(found.trials) == 1
    with pytest.raises(magnon.errors.ArgumentError, match="minutes"):
        magnon.ray.tune(SMALL, trials=40, minutes=-1)


def test_random_kills_of_workers_and_drivers_change_nothing(tmp_path):
    """MAGNON_KILLS=100 kills as often as before a release."""
    script = Path(__file__).with_name("kills.py")
    kills = os.environ.get("MAGNON_KILLS", "4")
    done = subprocess.run([sys.executable, script, str(tmp_path), kills], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{kills} kills" in done.stdout
