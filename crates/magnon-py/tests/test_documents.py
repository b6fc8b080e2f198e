"""The examples of the README and of the documentation, run as they stand."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent.parent
PAGES = [ROOT / "crates" / "magnon-py" / "README.md", ROOT / "docs" / "python.md"]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: "/".join(page.parts[-2:]))
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks(page)
    assert found
    names = {}
    for block in found:
        exec(compile(block, str(page), "exec"), names)


def test_the_first_example_is_short_and_says_it_all(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (first,) = blocks(ROOT / "README.md")
    lines = [line for line in first.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) < 10
    names = {}
    exec(first, names)
    told = capsys.readouterr().out
    assert "95 % interval" in told and "irection helps" in told
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert names["clf"].score(names["X"], names["y"], mask=names["test"]) > 0.8
