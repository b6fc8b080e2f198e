"""``python -m magnon`` is the command line."""

from __future__ import annotations

import sys

from . import _magnon


def main() -> int:
    """Runs the command line with the words of this process, and gives its exit code."""
    return _magnon.run_command(["magnon", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
