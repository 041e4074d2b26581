"""Partitions are written in smaller batches where a metastore refuses the larger ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from catalog.metastore import error_codes
from catalog.metastore.client import MetastoreWriter
from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Partition
from catalog.metastore.testing.objects import new_table
from connector_spi.errors import MetastoreError
from connectors.hive.partitions.definitions import PartitionDefinitions
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.reading import make_connector, make_session


class Narrow:
    """Refuses batches that are too long for it."""

    def __init__(self, writer: MetastoreWriter, limit: int) -> None:
        self._writer = writer
        self._limit = limit

    def add_partitions(self, database: str, table: str, partitions: Sequence[Partition]) -> None:
        self._check(len(partitions))
        self._writer.add_partitions(database, table, partitions)

    def drop_partitions(self, database: str, table: str, names: Sequence[str]) -> None:
        self._check(len(names))
        self._writer.drop_partitions(database, table, names)

    def _check(self, length: int) -> None:
        if length > self._limit:
            raise MetastoreError("too many terms", error_codes.REFUSED_REQUEST)


@pytest.fixture
def metastore(tmp_path: Path) -> Iterator[Metastore]:
    with closing(open_embedded(tmp_path / "m.db")) as found:
        yield found


def test_smaller_batches(metastore: Metastore, tmp_path: Path) -> None:
    table = new_table(metastore, ("p", "int"))
    session = make_session(make_connector(tmp_path))
    folders = [(f"file:///t/p={number}", (str(number),)) for number in range(450)]

    def over(limit: int) -> PartitionDefinitions:
        writes = cast(MetastoreWriter, Narrow(metastore.writes, limit))
        return PartitionDefinitions(replace(metastore, writes=writes), FileSystem())

    def names() -> list[str]:
        return metastore.reads.get_partition_names(table.database, table.name)

    with pytest.raises(MetastoreError, match="too many terms"):
        over(10).add_locations(session, table, folders)
    assert names() == []
    over(60).add_locations(session, table, folders)
    assert sorted(names()) == sorted(f"p={number}" for number in range(450))
    with pytest.raises(MetastoreError, match="too many terms"):
        over(10).drop(table, names())
    assert len(names()) == 450
    over(60).drop(table, names())
    assert names() == []
