"""The package itself: what it imports, its keywords, types, interrupts and pictures."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import magnon
from magnon import _keywords, _magnon, _settings


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_only_numpy_is_imported():
    code = """
import magnon, sys
import numpy as np
ring = np.array([[k, (k + 1) % 12] for k in range(12)])
clf = magnon.MagneticClassifier(epochs=3, charge=0.2).fit(np.eye(12), np.arange(12) % 2, graph=ring)
clf.predict(np.eye(12))
magnon.propagate(ring, np.eye(12), charge=0.2)
print(*sys.modules)
"""
    others = {"scipy", "networkx", "pandas", "polars", "pyarrow", "torch", "sklearn", "igraph", "dgl"}
    assert others.isdisjoint(python(code))


def parameters(call):
    return {name for name, _ in _magnon.call_parameters(call)}


def test_keywords_are_the_parameters_of_the_library():
    def words(kind):
        return {word.rstrip("_") for word in kind.__annotations__}

    known = parameters("train") | {"self_loops", "seed", "threads"}
    assert words(_keywords.TrainSettings) == known - {"no_self_loops"}
    data = parameters("info")
    assert set(_settings.DATA) == data == words(_keywords.DataSettings) - {"seed", "threads"}
    taken = words(_keywords.OperatorSettings) - {"self_loops", "seed", "threads"}
    assert taken < parameters("operator")


@pytest.mark.parametrize("name", ["spectrum", "compare", "tune", "eigenmap", "denoise"])
def test_named_keywords_are_parameters(name):
    code = getattr(magnon, name).__code__
    own = set(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])
    assert own - {"progress", "return_report"} <= parameters(name)


def test_unknown_keywords_are_refused():
    for call in (magnon.train, magnon.spectrum, magnon.magnetic_operator, magnon.cycle_lengths, magnon.simple_cycles):
        with pytest.raises((TypeError, ValueError), match="chage"):
            call("cycle:nodes=5", chage=0.2)


INTERRUPTED = """
import magnon, os, signal, threading, time

def interrupt():
    # How far the call is, however busy the machine.
    while time.process_time() < begun + 0.5:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

begun = time.process_time()
threading.Thread(target=interrupt).start()
try:
    CALL
except KeyboardInterrupt:
    print("stopped", flush=True)
os._exit(0)
"""


@pytest.mark.parametrize(
    "call",
    [
        "magnon.train('cyclic:nodes=3000,columns=64', epochs=10**6, patience=10**6, charge=0.2)",
        "magnon.tune('cyclic:nodes=900', trials=5000)",
        "list(magnon.simple_cycles('erdos-renyi:nodes=60,density=0.5'))",
        "magnon.spectrum('erdos-renyi:nodes=6000,density=0.01', charge=0.2)",
    ],
    ids=["train", "tune", "simple_cycles", "spectrum"],
)
def test_interrupts_stop_calls_and_other_threads_run_meanwhile(call):
    """The interrupt comes from another thread. Without it, the calls would take longer than the time-out."""
    line = [sys.executable, "-c", INTERRUPTED.replace("CALL", call)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert done.stdout == "stopped\n", done.stderr


def test_progress():
    steps = []
    magnon.train(
        "cyclic:nodes=900", epochs=300, charge="1/3", progress=lambda done, total, words: steps.append(words)
    )
    assert any("epoch" in words for words in steps)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system does not list threads")
def test_calls_take_the_threads_that_they_are_given():
    def threads():
        return len(list(Path("/proc/self/task").iterdir()))

    x = np.ones((20_000, 64), dtype=np.float32)
    ring = np.stack([np.arange(20_000), (np.arange(20_000) + 1) % 20_000], axis=1)
    before, during = threads(), []
    magnon.propagate(ring, x, charge="1/4", order=64, threads=19, progress=lambda *_: during.append(threads()))
    assert max(during) >= before + 19


def test_an_error_in_a_callback_ends_the_call():
    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        magnon.train("cyclic:nodes=3000,columns=64", epochs=10**6, patience=10**6, charge=0.2, progress=fail)


def test_bar(capsys):
    magnon.train("cyclic:nodes=900", epochs=300, charge="1/3", progress=True)
    assert "%" in capsys.readouterr().err


def test_forked_processes_work():
    code = (
        "import magnon, os; magnon.train('cyclic:nodes=90', epochs=3, charge=0.2); child = os.fork()\n"
        "if not child: magnon.train('cyclic:nodes=90', epochs=3, charge=0.2); os._exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["7"], done.stderr


def test_pictures(tmp_path):
    found = magnon.spectrum("cycle:nodes=8", charge="1/4")
    assert "<svg" in found._repr_html_() and "<td>" in found._repr_html_()
    assert found.plot().save(tmp_path / "a.svg").read_text().startswith("<svg")
    assert "<html" in magnon.eigenmap("cycle:nodes=8").plot().save(tmp_path / "b.html").read_text()
    for other in (magnon.filter_response("cycle:nodes=8"), magnon.spectral_density("cycle:nodes=8", probes=2)):
        assert other.plot().svg.startswith("<svg")
    run = magnon.train("cyclic:nodes=90", epochs=5, charge="1/3")
    assert "<html" in run.page.html and "iframe" in run.page._repr_html_()


def test_results_are_like_mappings():
    found = magnon.spectrum("cycle:nodes=8", charge=0)
    assert found["count"] == found.count == 8 and "vectors" in dict(found)
    assert isinstance(found.eigenvalues, np.ndarray)
    assert isinstance(found.to_dict()["eigenvalues"], list)
    with pytest.raises(AttributeError, match="it has name"):
        found.eigenvalue
    with pytest.raises(AttributeError, match="changed"):
        found.count = 3


def test_types():
    package = Path(__file__).parent.parent
    environment = {**os.environ, "MYPYPATH": str(package / "python")}
    config = package / "pyproject.toml"
    for words in (
        ["mypy", "--config-file", config],
        ["mypy.stubtest", "magnon._magnon", "--mypy-config-file", config, "--ignore-disjoint-bases"],
        # Pyright, in the form that brings its own node.
        ["basedpyright", "--pythonpath", sys.executable, "--project", config],
    ):
        line = [sys.executable, "-m", *map(str, words)]
        done = subprocess.run(line, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr


def test_docstrings():
    """The examples of all docstrings, as they stand in the installed package."""
    import doctest
    import importlib.util
    import pkgutil

    attempted = 0
    for module in pkgutil.iter_modules(magnon.__path__):
        if module.name == "ray" and importlib.util.find_spec("ray") is None:
            continue  # it needs Ray
        if module.name in ("_magnon", "__main__"):
            continue
        done = doctest.testmod(importlib.import_module(f"magnon.{module.name}"))
        assert done.failed == 0, module.name
        attempted += done.attempted
    assert attempted > 50
    undocumented = [
        name
        for name in magnon.__all__
        if callable(getattr(magnon, name)) and ">>>" not in (getattr(magnon, name).__doc__ or "")
    ]
    assert set(undocumented) == {"Dataset", "MagnonError", "Page", "Picture", "Run", "fetch", "predict"}
