"""A virtual environment with Lakeport and what its tasks need, packed for ``spark.archives``."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import venv_pack

from tests.paths import PROJECT

__all__ = ["pack_environment"]

_LIBRARIES = ("fastavro", "numpy", "polars", "polars-runtime-32", "pyarrow", "pyorc")
"""What tasks import; PySpark comes with Spark."""


def pack_environment(folder: Path) -> Path:
    """Makes the environment out of what is installed here, with no network.

    Args:
        folder: An empty one.
    """
    made = folder / "environment"
    venv.create(made, symlinks=True, with_pip=False)
    packages = made / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    for name in _LIBRARIES:
        for file in importlib.metadata.files(name) or ():
            source = Path(str(file.locate()))
            if file.parts[0] != ".." and source.is_file() and "tests" not in file.parts and "include" not in file.parts:
                target = packages / file
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(source, target)
    _install_wheel(folder, packages)
    # Spark cannot unpack links in a file that ends with .tar.
    packed = folder / "environment.tar.gz"
    venv_pack.pack(prefix=str(made), output=str(packed), compress_level=1)
    return packed


def _install_wheel(folder: Path, packages: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    shutil.unpack_archive(wheel, packages, format="zip")


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)  # on another file system
