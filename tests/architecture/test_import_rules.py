"""Who may import whom: the contracts of pyproject.toml, and what a task really loads (invariant I4)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.paths import PROJECT

# What a task must not load: metastore and driver modules, and what comes with them.
BARRED = {"catalog", "lakeport", "py4j", "pyspark", "thrift"}
TEST_LIBRARIES = {"hypothesis", "pytest"}

EXECUTOR_MODULES = sorted(
    str(path.relative_to(PROJECT).with_suffix("")).replace("/", ".")
    for pattern in ("connectors/*/handles.py", "connectors/*/page_source.py", "connectors/toolkit/**/*.py")
    for path in PROJECT.glob(pattern)
)

# Prints which top-level packages each module of the arguments loads beyond those that were loaded before it.
LOADS = """
import importlib, json, sys
loads, before = {}, set()
for module in sys.argv[1:]:
    importlib.import_module(module)
    after = {name.partition(".")[0] for name in sys.modules}
    loads[module], before = sorted(after - before), after
print(json.dumps(loads))
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def loads() -> Mapping[str, Sequence[str]]:
    """The packages that the SPI and each executor module load, one after the other in one process."""
    done = run(sys.executable, "-c", LOADS, "connector_spi", *EXECUTOR_MODULES)
    assert done.returncode == 0, done.stderr
    found: Mapping[str, Sequence[str]] = json.loads(done.stdout)
    return found


@pytest.mark.slow  # make check runs the same contracts
def test_the_import_contracts_are_kept() -> None:
    done = run(str(Path(sys.executable).parent / "lint-imports"), "--no-cache")
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("module", EXECUTOR_MODULES)
def test_what_runs_in_a_task_loads_no_driver_module(loads: Mapping[str, Sequence[str]], module: str) -> None:
    assert BARRED.isdisjoint(loads[module])


def test_the_spi_loads_no_test_library_and_no_driver_module(loads: Mapping[str, Sequence[str]]) -> None:
    assert (BARRED | TEST_LIBRARIES).isdisjoint(loads["connector_spi"])


def test_every_connector_has_the_same_six_files() -> None:
    six = {"config.py", "connector.py", "handles.py", "metadata.py", "page_source.py", "splits.py"}
    for folder in (PROJECT / "connectors").iterdir():
        if folder.is_dir() and folder.name not in ("toolkit", "__pycache__"):
            assert six <= {path.name for path in folder.iterdir()}, folder.name
