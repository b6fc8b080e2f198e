"""Packs the Python package and a library that cargo has built into a wheel, for tests.

Usage: pack_wheel.py PACKAGE LIBRARY FOLDER

maturin builds the wheels that are published; it would build every crate once more for a test.
"""

import base64
import hashlib
import shutil
import sys
import sysconfig
import zipfile
from pathlib import Path

try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib


def main(package, library, folder):
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    workspace = tomllib.loads((package.parent.parent / "Cargo.toml").read_text())
    version = workspace["workspace"]["package"]["version"]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    info = f"{project['name']}-{version}.dist-info"
    scripts = "".join(f"{name} = {place}\n" for name, place in project["scripts"].items())
    requires = "".join(f"Requires-Dist: {need}\n" for need in project["dependencies"])
    texts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n{requires}",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp310-abi3-{platform}\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{scripts}",
    }
    contents = {name: text.encode() for name, text in texts.items()}
    for path in sorted((package / "python").rglob("*")):
        if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed":
            contents[path.relative_to(package / "python").as_posix()] = path.read_bytes()
    contents["magnon/_magnon.abi3.so"] = library.read_bytes()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    target = folder / f"{project['name']}-{version}-cp310-abi3-{platform}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as wheel:
        record = []
        for name, data in contents.items():
            wheel.writestr(name, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")
        wheel.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")
    print(target)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
