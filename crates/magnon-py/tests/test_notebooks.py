"""The notebooks run, and were saved with what they show."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent.parent.parent / "docs" / "notebooks"
BOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_three():
    assert [book.stem for book in BOOKS] == ["charge-and-spectrum", "comparing-models", "first-steps"]


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_notebook(book):
    names = {}
    shown = 0
    for cell in json.loads(book.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), book.name, "exec"), names)
            shown += bool(cell["outputs"])
            assert all(output["output_type"] != "error" for output in cell["outputs"])
    assert shown >= 4
