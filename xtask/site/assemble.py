"""Puts the pages of the documentation site together.

Usage: assemble.py REPOSITORY MAGNON OUTPUT

Pages of the repository are copied with their links turned to where pages of the site lie; the pages on the command
line and on the Python package are made from the program's help and from the package's list of names.
"""

import ast
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Where files of the repository lie on the site; those in docs keep their names.
PAGES = {
    "README.md": "index.md",
    "docs/README.md": "guide.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)\s]+)\)")


def pages(repository):
    """The files of the repository that are on the site, each with its place there."""
    found = dict(PAGES)
    for path in sorted((repository / "docs").glob("*.md")):
        name = f"docs/{path.name}"
        found.setdefault(name, path.name)
    for path in sorted((repository / "docs" / "dev").glob("*.md")):
        found[f"docs/dev/{path.name}"] = f"dev-{path.name}"
    for path in sorted((repository / "docs" / "notebooks").glob("*.ipynb")):
        found[f"docs/notebooks/{path.name}"] = f"notebooks/{path.name}"
    return found


def turned(text, source, places):
    """A page with its links turned; what is not on the site keeps its words alone."""

    def turn(link):
        words, target = link.groups()
        if re.match(r"[a-z]+:|#", target):
            return link.group()
        target, mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        return f"[{words}]({places[path]}{mark}{anchor})" if path in places else words

    return LINK.sub(turn, text)


def help_of(magnon, *words):
    return subprocess.run([magnon, *words, "--help"], capture_output=True, text=True, check=True).stdout


def commands(magnon):
    whole = help_of(magnon)
    listed = whole.split("Commands:\n")[1].split("\n\n")[0]
    names = re.findall(r"^  (\w+) ", listed, re.MULTILINE)
    parts = ["# Command line\n\n```text\n" + whole + "```\n"]
    for name in names:
        if name != "help":
            parts.append(f"## magnon {name}\n\n```text\n{help_of(magnon, name)}```\n")
    return "\n".join(parts)


def api(package):
    tree = ast.parse((package / "__init__.py").read_text())
    lists = (node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    names = [name for name in ast.literal_eval(next(lists)) if not name.startswith("_")]
    return "# Python\n\n" + "\n\n".join(f"::: magnon.{name}" for name in names) + "\n"


def main(repository, magnon, output):
    repository, output = Path(repository), Path(output)
    shutil.rmtree(output, ignore_errors=True)
    places = pages(repository)
    for source, place in places.items():
        target = output / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.endswith(".md"):
            target.write_text(turned((repository / source).read_text(), source, places))
        else:
            shutil.copy(repository / source, target)
    (output / "commands.md").write_text(commands(magnon))
    (output / "api.md").write_text(api(repository / "crates" / "magnon-py" / "python" / "magnon"))


if __name__ == "__main__":
    main(*sys.argv[1:])
