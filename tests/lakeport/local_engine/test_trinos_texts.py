"""The queries of the tests of Trino's SQL in DuckDB: what runs gives the answers that Trino gave."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import ConnectorError
from connectors.memory.connector import MemoryConnector, MemoryPlugin
from lakeport.duckdb.session import LocalSession
from tests.lakeport.trino import test_trino_dialect, test_trino_functions, test_trino_reports, test_trino_values
from tests.lakeport.trino.shop import put_numbers, put_shop

pytestmark = pytest.mark.slow

_OF_NUMBERS = [*test_trino_dialect.QUERIES, *test_trino_functions.QUERIES]
_OF_THE_SHOP = [*test_trino_reports.QUERIES, *test_trino_values.QUERIES]


@pytest.fixture
def session() -> Iterator[LocalSession]:
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    with LocalSession(registry) as made:
        yield made


@pytest.mark.parametrize(("queries", "least"), [(_OF_NUMBERS, 88), (_OF_THE_SHOP, 67)], ids=["numbers", "shop"])
def test_answers_are_trinos(session: LocalSession, queries: list[tuple[str, list[object]]], least: int) -> None:
    """What is not run fails; so many of them run at least."""
    memory = session.catalogs.get("mem")
    assert isinstance(memory, MemoryConnector)
    (put_numbers if queries is _OF_NUMBERS else put_shop)(memory)
    ran, wrong = 0, []
    for text, expected in queries:
        try:
            found = session.sql(text, dialect="trino").fetchall()
        except ConnectorError:
            continue
        ran += 1
        if not _are_equal(found, expected):
            wrong.append((text, expected, found))
    assert not wrong
    assert ran >= least


def _are_equal(found: object, expected: object) -> bool:
    """Entries of maps are in no order; lists and tuples of the same are equal."""
    if isinstance(expected, dict):
        assert isinstance(found, list)
        return len(found) == len(expected) and all(_are_equal(dict(found)[key], expected[key]) for key in expected)
    if not isinstance(expected, list | tuple):
        return found == expected
    assert isinstance(found, list | tuple)
    return len(found) == len(expected) and all(map(_are_equal, found, expected))
