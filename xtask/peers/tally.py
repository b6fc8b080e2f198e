"""Counting and telling of checks that passed and failed."""

from pathlib import Path

SHOWN = 5


class Tally:
    """Counts over all graphs; failures are printed as they come, the first few of each graph."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def graph(
        self, name: str, checks: str, passed: int, failures: list[str], note: str = ""
    ) -> None:
        """Prints the line of one graph."""
        self.passed += passed
        self.failed += len(failures)
        for failure in failures[:SHOWN]:
            print(f"FAIL {name}: {failure}")
        if len(failures) > SHOWN:
            print(f"FAIL {name}: and {len(failures) - SHOWN} more")
        print(f"{name}: {passed + len(failures)} {checks} checked{note}", flush=True)

    def end(self) -> int:
        """Prints the last line and gives the exit code."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


def check_binary(path: str) -> str:
    """The path made absolute, so that it does not depend on the working directory."""
    binary = Path(path).resolve()
    if not binary.is_file():
        raise SystemExit(f"{path}: no such program")
    return str(binary)
