"""The package and the command line give the same, bit for bit."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import magnon

DATA = "cyclic:nodes=120,columns=5"


PLACES = ("out", "output", "csv", "npy", "plot")


def plain(told):
    """Without times and places."""
    if isinstance(told, list):
        return [plain(one) for one in told]
    if not isinstance(told, dict):
        return told
    kept = {key: value for key, value in told.items() if "seconds" not in key and key not in PLACES}
    return {key: plain(value) for key, value in kept.items()}


def test_train(command):
    words = ["--charge", "1/3", "--epochs", "30", "--runs", "2", "--controls"]
    told = command("train", DATA, "--seed", 3, *words)
    run = magnon.train(DATA, seed=3, charge="1/3", epochs=30, runs=2, controls=True)
    assert plain(run.to_dict()) == plain(told)
    data = magnon.load_dataset(DATA, seed=3)
    again = magnon.train(data, seed=3, charge="1/3", epochs=30, runs=2, controls=True, threads=1)
    assert plain(again.to_dict()) == plain(told)


def test_charge_is_chosen_as_on_the_command_line(command):
    assert plain(magnon.train(DATA, epochs=40).to_dict()) == plain(command("train", DATA, "--epochs", 40))


def test_spectrum(command):
    told = command("spectrum", DATA, "--charge", "0.2", "--count", 4, "--normalize", "rw")
    found = magnon.spectrum(DATA, charge=0.2, count=4, normalize="rw")
    assert plain(found.to_dict()) == plain(told)


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (["info", DATA], lambda: magnon.load_dataset(DATA).info()),
        (["cycles", DATA, "--max-length", 5], lambda: magnon.cycle_lengths(DATA, max_length=5)),
        (["response", DATA, "--points", 9], lambda: magnon.filter_response(DATA, points=9)),
        (["eigenmap", DATA, "--charge", "1/3"], lambda: magnon.eigenmap(DATA, charge="1/3")),
        (["spectrum", DATA, "--density", "--seed", 2], lambda: magnon.spectral_density(DATA, seed=2)),
        (["denoise", DATA, "--mu", 2], lambda: magnon.denoise(DATA, mu=2, return_report=True)[1]),
        (["operator", DATA], lambda: magnon.propagate(DATA, order=3, return_report=True)[1]),
        (["tune", DATA, "--trials", 3, "--epochs", 20], lambda: magnon.tune(DATA, trials=3, epochs=20)),
        (
            ["compare", DATA, "--models", "mgc,mlp", "--splits", 2, "--draws", 1],
            lambda: magnon.compare(DATA, ["mgc", "mlp"], splits=2, draws=1),
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_reports(command, words, call):
    told, found = plain(command(*words)), plain(call().to_dict())
    for key, value in told.items():
        if key == "config":  # the command line names the place of the data
            value.pop("data", None), found[key].pop("data", None)
        assert found[key] == value, key


def test_arrays(command, tmp_path):
    command("propagate", DATA, "--charge", "1/3", "-o", tmp_path / "x.npy")
    assert np.array_equal(magnon.propagate(DATA, charge="1/3"), np.load(tmp_path / "x.npy"))
    command("operator", DATA, "--charge", "0.3", "-o", tmp_path / "s.npz")
    written = sp.load_npz(tmp_path / "s.npz")
    found = magnon.magnetic_operator(DATA, charge=0.3)
    assert np.array_equal(found.data, written.data) and np.array_equal(found.indices, written.indices)


def test_run_folders_go_both_ways(command, tmp_path):
    command("train", DATA, "--charge", "1/3", "--epochs", 20, "-o", tmp_path / "run", "--no-report")
    told = command("predict", tmp_path / "run")
    found = magnon.predict(tmp_path / "run")
    assert plain(found.to_dict()) == plain(told)
    assert np.allclose(found.probabilities.sum(axis=1), 1, atol=1e-5)
    run = magnon.train(DATA, charge="1/3", epochs=20)
    run.save(tmp_path / "mine")
    assert plain(command("predict", tmp_path / "mine", "--full")) == {**plain(told), "computed": 120}
    assert (tmp_path / "mine" / "report.html").stat().st_size > 10_000
    data = magnon.load_dataset(DATA, feature_norm="none")
    other = magnon.predict(tmp_path / "run", data.graph, features=data.features)
    np.testing.assert_allclose(other.probabilities, found.probabilities, atol=1e-6)


def test_real_data(command):
    import os

    folder = os.environ.get("MAGNON_DATA")
    if folder is None:
        may_lack = "CI" not in os.environ or "MAGNON_NO_DATA" in os.environ
        assert may_lack, "CI is set, but not MAGNON_DATA; without real data, set MAGNON_NO_DATA=1"
        pytest.skip("it needs real data, and MAGNON_DATA is not set")
    texas = os.path.join(folder, "texas")
    told = command("train", texas, "--charge", "1/4", "--epochs", 30, "--split", "60/20/20")
    run = magnon.train(texas, charge="1/4", epochs=30, split="60/20/20")
    assert plain(run.to_dict()) == plain(told)


def test_exit_codes():
    def code(*words):
        return subprocess.run([sys.executable, "-m", "magnon", *words], capture_output=True).returncode

    assert (code("--version"), code("models"), code("nothing"), code("info", "/nowhere")) == (0, 0, 2, 1)
