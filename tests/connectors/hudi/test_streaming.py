"""Streams of Hudi tables: what comes between two instants is what real Hudi's incremental queries give."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.optional.streaming import StreamStart, SupportsStreaming, offset_text
from connector_spi.testing import ReferenceQuery
from connectors.hudi.timeline.write_range import EARLIEST
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.changes.test_incremental import ANSWERED, answer, asked_begin, keys, real, rows
from tests.connectors.hudi.corpus import opened
from tests.connectors.hudi.writer import HudiWriter, avro_schema
from tests.rows import assert_same_table

NAME = SchemaTableName("s", "t")
KINDS = ("_basic_", "_insertoverwrite_", "_pendingclustering_", "_inflight_mor", "_compacted_", "_upgraded_")
STREAMED = [one for one in ANSWERED if one[0].startswith(("v6_", "v9_")) and any(map(one[0].count, KINDS))]


def batch(catalog: HudiCatalog, start: str, end: str, *, changes: bool = False) -> pa.Table:
    with ReferenceQuery(catalog.connector) as query:
        assert isinstance(query.metadata, SupportsStreaming)
        found = query.metadata.get_stream_batch(query.session, NAME, start, end, changes=changes)
        assert found is not None
        return query.scan(found).read()


def latest(catalog: HudiCatalog, offset: str, most: int | None = None, until: str | None = None) -> str:
    with ReferenceQuery(catalog.connector) as query:
        assert isinstance(query.metadata, SupportsStreaming)
        found = query.metadata.get_latest_offset(query.session, NAME, offset, most, until)
        assert found is not None
        return found


def initial(catalog: HudiCatalog, start: StreamStart) -> str:
    with ReferenceQuery(catalog.connector) as query:
        assert isinstance(query.metadata, SupportsStreaming)
        found = query.metadata.get_initial_offset(query.session, NAME, start)
        assert found is not None
        return found


def after(key: str) -> str:
    return offset_text({"after": key})


def ids(table: pa.Table) -> list[int]:
    return sorted(table.column("id").to_pylist())


@pytest.fixture
def catalog(tmp_path: Path) -> HudiCatalog:
    return make_catalog(tmp_path)


@real
@pytest.mark.parametrize(("case", "between"), STREAMED)
def test_a_batch_is_what_hudi_gives(case: str, between: str, tmp_path: Path) -> None:
    begin, _, end = between.partition("_")
    met = batch(opened(case, tmp_path), after(asked_begin(case, begin)), after(end))
    assert_same_table(met, answer(case, between))


@pytest.mark.parametrize("version", [6, 9])
def test_a_write_that_finishes_late_comes_once(catalog: HudiCatalog, tmp_path: Path, version: int) -> None:
    writer = HudiWriter(tmp_path / "table", version, ("part",)).create()
    writer.commit({("part=a", "g1"): rows([1])})
    late = writer.commit({("part=a", "g2"): rows([2])}, complete=False)
    writer.commit({("part=a", "g3"): rows([3])})
    catalog.register(writer.folder)
    offset = initial(catalog, StreamStart())
    ends = [latest(catalog, offset)]
    met = [ids(batch(catalog, offset, ends[0]))]
    stat = {"fileId": "g2", "path": f"part=a/g2_0-1-1_{late}.parquet", "partitionPath": "part=a", "numWrites": 1}
    commit = {"partitionToWriteStats": {"part=a": [stat]}, "extraMetadata": {"schema": avro_schema(rows([1]).schema)}}
    writer.complete(late, "commit", commit)
    ends.append(latest(catalog, ends[0]))
    met.append(ids(batch(catalog, *ends)))
    # Requested times cannot tell a late write from an old one, so there the stream waited for it.
    assert met == ([[1], [2, 3]] if version == 6 else [[1, 3], [2]])
    assert ids(batch(catalog, offset, ends[0])) == met[0], "the first batch is read again after a restart"
    assert latest(catalog, ends[1]) == ends[1]


@pytest.mark.parametrize("version", [6, 9])
def test_where_a_stream_begins(catalog: HudiCatalog, tmp_path: Path, version: int) -> None:
    writer = HudiWriter(tmp_path / "table", version, ("part",)).create()
    requested = [writer.commit({("part=a", f"g{number}"): rows([number])}) for number in (1, 2, 3)]
    catalog.register(writer.folder)
    offsets = keys(writer)

    def from_(start: StreamStart) -> list[int]:
        offset = initial(catalog, start)
        end = latest(catalog, offset)
        return [] if end == offset else ids(batch(catalog, offset, end))

    for text in {requested[1], offsets[1]}:
        version_of = TableVersion(VersionKind.VERSION, text)
        assert from_(StreamStart(version_of)) == [2, 3]
        assert from_(StreamStart(version_of, inclusive=False)) == [3]
    assert from_(StreamStart(TableVersion(VersionKind.VERSION, "earliest"))) == [1, 2, 3]
    assert from_(StreamStart(latest=True)) == []
    assert initial(catalog, StreamStart()) == after(EARLIEST)
    with pytest.raises(InvalidArgumentError, match="no instant"):
        initial(catalog, StreamStart(TableVersion(VersionKind.VERSION, "yesterday")))


def test_what_was_cleaned_is_refused(catalog: HudiCatalog, tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "table", 9, ("part",)).create()
    writer.commit({("part=a", "g1"): rows([1])})
    writer.commit({("part=a", "g2"): rows([2])})
    catalog.register(writer.folder)
    offset = initial(catalog, StreamStart(latest=True))
    writer.commit({("part=a", "g3"): rows([3])})
    end = latest(catalog, offset)
    [gone] = (writer.folder / "part=a").glob("g3_*")
    gone.unlink()
    with pytest.raises(InvalidArgumentError, match="Hudi's cleaner removed it; there are 3 writes"):
        batch(catalog, offset, end)


def test_a_table_without_commit_times_is_refused(catalog: HudiCatalog, tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "table", 9, ("part",), populate_meta_fields=False).create()
    writer.commit({("part=a", "g1"): rows([1])})
    catalog.register(writer.folder)
    with pytest.raises(NotSupportedError, match="cannot be read as a stream"):
        initial(catalog, StreamStart())
