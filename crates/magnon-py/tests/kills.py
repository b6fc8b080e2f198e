"""Kills workers and drivers of ``magnon.ray.propagate`` at random moments, and holds the result to the local call's.

A moment counts only where workers are seen at a task. When exactly it comes does not matter: the result must be the same.

Usage: kills.py FOLDER KILLS [SEED]

A cluster runs in this process, drivers run in others. A driver that was killed is started again with the same call.
Each result is compared with that of the local call, bit for bit.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import ray

import magnon
import magnon.ray

NODES, COLUMNS = 40_000, 96
SETTINGS = {"charge": "1/3", "order": 24}
#: One in so many kills is of a driver.
DRIVERS = 3


def drive(folder, address):
    ray.init(address=address, log_to_driver=False)
    names = [str(folder / "g.magnon"), str(folder / "x.npy")]
    magnon.ray.propagate(*names, output=folder / "out.npy", columns=4, **SETTINGS)


def workers():
    """The workers of this process's cluster that are at a task."""
    parents, at_work = {}, []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat, title = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(entry.name)] = int(stat.rsplit(")", 1)[1].split()[1])
        if title.startswith(b"ray::_filter"):
            at_work.append(int(entry.name))

    def is_ours(process):
        while process > 1 and process != os.getpid():
            process = parents.get(process, 0)
        return process == os.getpid()

    return [process for process in at_work if is_ours(process)]


def main(folder, kills, seed=1):
    draw, chance = np.random.default_rng(seed), random.Random(seed)
    np.savetxt(folder / "edges.txt", draw.integers(0, NODES, (8 * NODES, 2)), fmt="%d")
    pack = [sys.executable, "-m", "magnon", "pack", "edges.txt", "-o", "g.magnon", "--quiet"]
    subprocess.run(pack, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    features = draw.standard_normal((NODES, COLUMNS)).astype(np.float32)
    features = features[: magnon.load_dataset(folder / "g.magnon").nodes]
    np.save(folder / "x.npy", features)
    expected = magnon.propagate(str(folder / "g.magnon"), str(folder / "x.npy"), **SETTINGS)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80 << 20)
    address = ray.get_runtime_context().gcs_address
    words = [sys.executable, __file__, "--drive", str(folder), address]
    killed, equal, begun = {"worker": 0, "driver": 0}, 0, time.monotonic()
    while sum(killed.values()) < kills:
        driver = subprocess.Popen(words)
        while driver.poll() is None:
            time.sleep(chance.uniform(0.0, 0.8))
            at_work = workers()
            # Before the first task there is nothing to lose.
            if not at_work or sum(killed.values()) == kills:
                continue
            if chance.randrange(DRIVERS) == 0:
                driver.kill()
                driver.wait()
                killed["driver"] += 1
                break
            try:
                os.kill(chance.choice(at_work), signal.SIGKILL)
                killed["worker"] += 1
            except ProcessLookupError:
                pass
        if driver.returncode == -signal.SIGKILL:
            if sum(killed.values()) < kills:
                continue
            subprocess.run(words, check=True)
        elif driver.returncode != 0:
            sys.exit(f"the driver ended with {driver.returncode} after {killed}")
        if not np.array_equal(np.load(folder / "out.npy"), expected):
            sys.exit(f"another result after {killed}")
        left = sorted(path.name for path in folder.iterdir())
        if left != ["edges.txt", "g.magnon", "out.npy", "x.npy"]:
            sys.exit(f"left behind: {left}")
        os.remove(folder / "out.npy")
        equal += 1
    seconds = time.monotonic() - begun
    words = f"{killed['worker']} of workers in mid-task, {killed['driver']} of drivers"
    print(f"{kills} kills ({words}) in {seconds:.0f} s: {equal} results, all of the same bits")


if __name__ == "__main__":
    if sys.argv[1] == "--drive":
        drive(Path(sys.argv[2]), sys.argv[3])
    else:
        main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
