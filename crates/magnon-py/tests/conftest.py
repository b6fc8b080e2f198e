"""What tests share: the command of the same wheel, packages that they need, and how hard hypothesis tries."""

import importlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# MAGNON_EXAMPLES=100000 looks as hard as before a release.
settings.register_profile(
    "magnon",
    max_examples=int(os.environ.get("MAGNON_EXAMPLES", "60")),
    deadline=None,
    database=None,
    derandomize="MAGNON_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("magnon")


def needed(name):
    """A package of the tests' environment. Without it a test is skipped; in CI, where it must be there, it fails."""
    if "CI" in os.environ:
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed")


@pytest.fixture
def command(tmp_path):
    """Runs the command line of the package, and gives its JSON."""

    def run(*words):
        line = [sys.executable, "-m", "magnon", *map(str, words), "--json", "--quiet"]
        done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def graph():
    """A random directed graph of 40 nodes as a scipy matrix, with weights that numbers of 32 bits hold."""
    from scipy.sparse import csr_array

    draw = np.random.default_rng(7)
    dense = (draw.random((40, 40)) < 0.12) * draw.integers(1, 9, (40, 40)) / 4
    np.fill_diagonal(dense, 0)
    return csr_array(dense)
