"""The wheel holds what an installed Lakeport needs, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lakeport.demo.sample_warehouse import TABLES
from tests.paths import PROJECT


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The files of the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [wheel] = Path(folder).glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        return packed.namelist()


def test_the_sample_warehouse_is_in_it(names: list[str]) -> None:
    zips = {name for name in names if name.startswith("lakeport/demo/data/") and name.endswith(".zip")}
    assert {Path(name).stem for name in zips} == {table.name for table in TABLES}


def test_it_holds_the_four_packages_only(names: list[str]) -> None:
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"connector_spi", "connectors", "catalog", "lakeport"}


@pytest.mark.parametrize("package", ["connector_spi", "connectors", "catalog", "lakeport"])
def test_packages_are_marked_as_typed(names: list[str], package: str) -> None:
    assert f"{package}/py.typed" in names
