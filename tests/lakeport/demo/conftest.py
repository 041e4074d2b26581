"""One run of the tour for all tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hms import why_not
from tests.lakeport.demo.command import run_lakeport


@dataclass(frozen=True, slots=True)
class TourRun:
    """The tour as it went.

    Attributes:
        folder: Where it ran.
        text: What it printed.
    """

    folder: Path
    text: str


@pytest.fixture(scope="session")
def tour_run(tmp_path_factory: pytest.TempPathFactory) -> TourRun:
    """The tour's first run, in a folder of its own."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("tour")
    done = run_lakeport("demo", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return TourRun(folder, done.stdout)
