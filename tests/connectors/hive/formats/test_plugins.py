"""SerDes of plugins: which are refused."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint

import pytest

from connector_spi.connector import SPI_VERSION
from connector_spi.errors import InternalError
from connectors.hive.formats.plugins import SERDE_ENTRY_POINTS, _load
from connectors.hive.formats.row_serde import RowDecoder, RowLayout, RowSerDe

HERE = "tests.connectors.hive.formats.test_plugins"


class SilentSerDe(RowSerDe):
    classes = frozenset({"com.acme.SilentSerDe"})

    def decoder(self, layout: RowLayout) -> RowDecoder:
        raise AssertionError(layout)


class OldSerDe(SilentSerDe):
    spi_version = 1


class FitSerDe(SilentSerDe):
    spi_version = SPI_VERSION


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("SilentSerDe", f"SilentSerDe does not say .* such as 'spi_version = {SPI_VERSION}' in the class"),
        ("OldSerDe", f"written for version 1 of the SPI, this is version {SPI_VERSION}; install a release"),
    ],
)
def test_a_plugin_of_another_version_is_refused(name: str, says: str) -> None:
    with pytest.raises(InternalError, match=f"plugin {re.escape(HERE)}:{name} of lakeport.hive.serdes.*{says}"):
        _load(EntryPoint("x", f"{HERE}:{name}", SERDE_ENTRY_POINTS))


def test_a_plugin_of_this_version_is_taken() -> None:
    assert isinstance(_load(EntryPoint("x", f"{HERE}:FitSerDe", SERDE_ENTRY_POINTS)), FitSerDe)
