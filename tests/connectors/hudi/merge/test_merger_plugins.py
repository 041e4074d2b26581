"""Mergers of plugins: which are refused."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint

import pytest

from connector_spi.connector import SPI_VERSION
from connector_spi.errors import InternalError
from connectors.hudi.merge.merger_plugins import MERGER_ENTRY_POINTS, _loaded
from connectors.hudi.merge.record_merger import RecordMerger

HERE = "tests.connectors.hudi.merge.test_merger_plugins"


class SilentMerger(RecordMerger):
    pass


class OldMerger(SilentMerger):
    spi_version = 1


class FitMerger(SilentMerger):
    spi_version = SPI_VERSION


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("SilentMerger", f"SilentMerger does not say .* such as 'spi_version = {SPI_VERSION}' in the class"),
        ("OldMerger", f"written for version 1 of the SPI, this is version {SPI_VERSION}; install a release"),
    ],
)
def test_a_plugin_of_another_version_is_refused(name: str, says: str) -> None:
    with pytest.raises(InternalError, match=f"plugin {re.escape(HERE)}:{name} of lakeport.hudi.record_mergers.*{says}"):
        _loaded(EntryPoint("x", f"{HERE}:{name}", MERGER_ENTRY_POINTS))


def test_a_plugin_of_this_version_is_taken() -> None:
    assert _loaded(EntryPoint("x", f"{HERE}:FitMerger", MERGER_ENTRY_POINTS)) is FitMerger
