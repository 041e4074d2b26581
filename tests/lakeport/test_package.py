"""The names of the package ``lakeport``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import lakeport
from tests.paths import PROJECT


def test_names_are_found_and_others_are_not() -> None:
    assert [name for name in lakeport.__all__ if not hasattr(lakeport, name)] == []
    with pytest.raises(AttributeError, match="module 'lakeport' has no attribute 'Nope'"):
        lakeport.Nope  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.slow
@pytest.mark.process
def test_a_type_checker_knows_them(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("from lakeport import Session, TableScan, connect\nfrom lakeport import Nope\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache"), str(program)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line.partition("error: ")[2] for line in done.stdout.splitlines() if "error: " in line] == [
        'Module "lakeport" has no attribute "Nope"  [attr-defined]'
    ], done.stdout + done.stderr
