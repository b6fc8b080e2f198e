"""Results: what the library tells, with attributes, and pictures."""

from __future__ import annotations

import html
import json
import keyword
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

_SHOWN = 12


class Picture:
    """A figure of Magnon: shown inline in notebooks, and saved as .svg or .html by the file's ending."""

    def __init__(self, svg: str, page: str) -> None:
        self.svg = svg
        self.html = page

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture of {len(self.svg)} characters of SVG>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the picture, as a page where the name ends in .html."""
        path = Path(path)
        page = path.suffix.lower() in (".html", ".htm")
        path.write_text(self.html if page else self.svg, encoding="utf-8")
        return path


class Page:
    """A page of Magnon, which needs no network and no other file."""

    def __init__(self, text: str) -> None:
        self.html = text

    def _repr_html_(self) -> str:
        source = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{source}" width="100%" height="640" style="border:0"></iframe>'

    def __repr__(self) -> str:
        return f"<Page of {len(self.html)} characters>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8")
        return path


def _usable(value: Any) -> Any:
    """Objects as results, lists of numbers as arrays."""
    if isinstance(value, dict):
        return Result(value)
    if isinstance(value, list):
        if value and all(type(one) in (int, float) for one in value):
            return np.asarray(value)
        return [_usable(one) for one in value]
    return value


class Result(Mapping[str, Any]):
    """What a call told: the JSON of the command line, with attributes.

    Lists of numbers are numpy arrays; :meth:`to_dict` gives plain objects. Keys that are words of Python are attributes
    with an underscore: ``run.pass_`` is ``run["pass"]``.

    Examples
    --------
    >>> result = Result({"nodes": 3, "sizes": [1, 2]}, points=None)
    >>> result.nodes, result["nodes"]
    (3, 3)
    >>> result.sizes
    array([1, 2])
    >>> result.to_dict()
    {'nodes': 3, 'sizes': [1, 2]}
    """

    _told: dict[str, Any]

    def __init__(self, told: dict[str, Any] | str, **more: Any) -> None:
        parsed: dict[str, Any] = json.loads(told) if isinstance(told, str) else told
        values = {key: _usable(value) for key, value in parsed.items()}
        values.update(more)
        self.__dict__.update(_told=parsed, _values=values, _more=tuple(more))

    def __getattr__(self, name: str) -> Any:
        # Copies and pickles ask before there is anything.
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        # A word of Python, such as pass, is written with an underscore behind it.
        if name.endswith("_") and keyword.iskeyword(name[:-1]) and name[:-1] in values:
            return values[name[:-1]]
        raise AttributeError(f"{type(self).__name__} has no '{name}'; it has {', '.join(values)}")

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["_values"][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__["_values"])

    def __len__(self) -> int:
        return len(self.__dict__["_values"])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(f"{name}_" if keyword.iskeyword(name) else name for name in self)]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("results cannot be changed")

    def to_dict(self) -> dict[str, Any]:
        """What was told, as plain objects."""
        return dict(self._told)

    def _rows(self) -> list[tuple[str, str]]:
        return [(key, short(value)) for key, value in self.items() if value is not None]

    def __repr__(self) -> str:
        return self._listed(self._rows())

    def _listed(self, rows: list[tuple[str, str]]) -> str:
        width = max((len(key) for key, _ in rows), default=0)
        lines = [f"{key:<{width}}  {text}" for key, text in rows]
        return "\n".join([type(self).__name__, *lines])

    def _picture(self) -> Picture | None:
        """A small chart, where the result has one."""
        return None

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(key)}</th><td>{html.escape(text)}</td></tr>"
            for key, text in self._rows()
        )
        picture = self._picture()
        return f"<table>{rows}</table>{picture.svg if picture else ''}"


def short(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, np.ndarray):
        if value.ndim == 1 and len(value) <= _SHOWN:
            return ", ".join(f"{one:.6g}" for one in value)
        return f"array of {' × '.join(map(str, value.shape))}, {value.dtype}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Result):
        return ", ".join(f"{key} {short(one)}" for key, one in list(value.items())[:_SHOWN])
    if isinstance(value, list):
        if len(value) > _SHOWN or any(isinstance(one, (Result, list)) for one in value):
            return f"{len(value)} entries"
        return ", ".join(map(short, value))
    return str(value)
