"""Answers that no metastore gives neither crash the process nor take memory without bound."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import PROJECT

COUNT = int(os.environ.get("LAKEPORT_FUZZ_COUNT", "1500"))
MEGABYTES = 100


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="bounds the address space as Linux does")
@pytest.mark.parametrize("seed", [1, 2])
def test_changed_answers_end_in_a_result_or_an_error_of_ours(
    recorded_answers: dict[str, bytes], tmp_path: Path, seed: int
) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({name: answer.hex() for name, answer in recorded_answers.items()}))
    done = subprocess.run(
        [sys.executable, "-m", "tests.catalog.metastore.thrift.fuzz_client", str(answers), str(seed), str(COUNT)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    ended = json.loads(done.stdout)
    assert ended.pop("megabytes") < MEGABYTES
    assert sum(ended.values()) == COUNT
    assert ended["METASTORE_CONNECTION_FAILED"] > COUNT / 4
