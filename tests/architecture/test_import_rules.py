"""Who may import whom: the contracts of pyproject.toml, and what a task really loads (invariant I4)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import PROJECT

# What a task must not load: metastore and driver modules, and what comes with them.
BARRED = {"catalog", "lakeport", "py4j", "pyspark", "thrift"}

EXECUTOR_MODULES = sorted(
    str(path.relative_to(PROJECT).with_suffix("")).replace("/", ".")
    for pattern in ("connectors/*/handles.py", "connectors/*/page_source.py", "connectors/toolkit/**/*.py")
    for path in PROJECT.glob(pattern)
)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


def test_the_import_contracts_are_kept() -> None:
    done = run(str(Path(sys.executable).parent / "lint-imports"), "--no-cache")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("module", EXECUTOR_MODULES)
def test_what_runs_in_a_task_loads_no_driver_module(module: str) -> None:
    show = f"import sys, json, {module}; print(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = run(sys.executable, "-c", show)
    assert done.returncode == 0, done.stderr
    assert BARRED.isdisjoint(json.loads(done.stdout))


def test_the_spi_loads_no_test_library() -> None:
    done = run(
        sys.executable, "-c", "import sys, connector_spi; print(sorted({'pytest', 'hypothesis'} & set(sys.modules)))"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_every_connector_has_the_same_six_files() -> None:
    six = {"config.py", "connector.py", "handles.py", "metadata.py", "page_source.py", "splits.py"}
    for folder in (PROJECT / "connectors").iterdir():
        if folder.is_dir() and folder.name not in ("toolkit", "__pycache__"):
            assert six <= {path.name for path in folder.iterdir()}, folder.name
