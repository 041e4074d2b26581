"""All damaged files that ``make fuzz`` reads."""

from __future__ import annotations

import sys

import pytest

from tests.fuzz.runner import fuzz
from tests.hive_corpus import require_corpus

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by Linux's means"),
]


def test_damaged_files() -> None:
    require_corpus()
    assert fuzz(range(300, 2000)).wrong == []
