"""``system.compact`` and ``t$compactions`` over a metastore that keeps a list of compactions, as Hive's does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.embedded.transactions import EmbeddedTransactions
from catalog.metastore.factory import Metastore
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from connector_spi.errors import (
    ConnectorError,
    InvalidArgumentError,
    MetastoreError,
    NotSupportedError,
    TableNotFoundError,
    UserError,
)
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import TupleDomain, Value
from connector_spi.testing.reading import ReferenceQuery
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.hive.transactions.compactions import CompactionsTable, compact_procedure
from tests.catalog.metastore.test_transactions import HiveThree
from tests.catalog.metastore.thrift.loopback import serving, speak_thrift
from tests.connectors.hive.reading import make_session
from tests.connectors.hive.table_writer import create_table

_ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "ds": ["a", "b"]})
_FULL = {"transactional": "true"}


@pytest.fixture
def server(hive: HiveConnector) -> HiveThree:
    kept = hive.metastore.transactions
    assert isinstance(kept, EmbeddedTransactions)
    return HiveThree(kept)


@pytest.fixture
def metastore(hive: HiveConnector, server: HiveThree, tmp_path: Path) -> Iterator[Metastore]:
    """Tables of the embedded metastore, with compactions of Hive 3."""
    create_table(hive.metastore, tmp_path, "s", "t", _ROWS, file_format="orc", parameters=_FULL)
    create_table(hive.metastore, tmp_path, "s", "parts", _ROWS, ["ds"], file_format="orc", parameters=_FULL)
    create_table(hive.metastore, tmp_path, "s", "plain", _ROWS)
    with serving(speak_thrift(server)) as uri:
        over = connect_thrift(ThriftConfig(uri=uri))
        yield replace(hive.metastore, transactions=over.transactions)
        over.close()


def compact(hive: HiveConnector, metastore: Metastore, **given: Value) -> dict[str, object]:
    procedure = compact_procedure(metastore)
    arguments = {one.name: one.default for one in procedure.arguments} | {
        "schema_name": "S",
        "table_name": "T",
        **given,
    }
    result = procedure.function(make_session(hive), arguments)
    assert result.schema == procedure.result
    [row] = result.to_pylist()
    return dict(row)


def test_one_of_a_partition_is_asked_for_once(hive: HiveConnector, metastore: Metastore, server: HiveThree) -> None:
    assert compact(hive, metastore) == {"compaction": 1, "state": "initiated", "accepted": True}
    assert compact(hive, metastore, type="minor") == {"compaction": 1, "state": "initiated", "accepted": False}
    assert compact(hive, metastore, table_name="parts", partition="ds=a", type="minor")["compaction"] == 2
    met = [(one.tablename, one.partitionname, one.type) for one in server.compactions]
    assert met == [("t", None, 2), ("parts", "ds=a", 1)]


def test_it_is_waited_for(hive: HiveConnector, metastore: Metastore, server: HiveThree) -> None:
    server.states = ["working", "ready for cleaning"]
    assert compact(hive, metastore, wait=True)["state"] == "ready for cleaning"


@pytest.mark.parametrize(
    ("states", "told"),
    [
        (["failed"], "of s.t was not made, its state is failed: the log of its worker says why"),
        (["working"], "of s.t is working after 0.5 s, by worker None; it stays asked for"),
    ],
)
def test_one_that_is_not_made(
    hive: HiveConnector, metastore: Metastore, server: HiveThree, states: list[str], told: str
) -> None:
    server.states = states
    with pytest.raises(MetastoreError, match=told) as raised:
        compact(hive, metastore, wait=True, max_wait_seconds=0.5)
    assert raised.value.code == error_codes.HIVE_COMPACTION_FAILED


@pytest.mark.parametrize(
    ("given", "kind", "told"),
    [
        ({"type": "tiny"}, InvalidArgumentError, "expected one of MINOR, MAJOR"),
        ({"table_name": "plain"}, NotSupportedError, "s.plain cannot be compacted: it is not transactional"),
        ({"table_name": "gone"}, TableNotFoundError, "s.gone"),
        ({"partition": "ds=a"}, InvalidArgumentError, "s.t has no partitions"),
        ({"table_name": "parts"}, InvalidArgumentError, "expected partition => 'ds=...'"),
        ({"table_name": "parts", "partition": "ds=z"}, UserError, "s.parts has no partition ds=z"),
    ],
)
def test_what_cannot_be_compacted_is_never_asked_for(
    hive: HiveConnector,
    metastore: Metastore,
    server: HiveThree,
    given: dict[str, Value],
    kind: type[ConnectorError],
    told: str,
) -> None:
    with pytest.raises(kind, match=told):
        compact(hive, metastore, **given)
    assert server.compactions == []


def test_they_are_a_table(hive: HiveConnector, metastore: Metastore, server: HiveThree) -> None:
    compact(hive, metastore, table_name="parts", partition="ds=a", type="minor")
    compact(hive, metastore, table_name="parts", partition="ds=b")
    first = server.compactions[0]
    first.state, first.workerid, first.start, first.endTime = "succeeded", "w", 5000, 6500
    table = CompactionsTable(
        SystemTableName(SchemaTableName("s", "parts"), "compactions"), metastore, transactional=True
    )
    [batch] = table.read(make_session(hive), TupleDomain.all())
    shown = batch.drop_columns(["started", "ended"]).to_pylist()
    assert shown == [
        {"compaction": 2, "partition": "ds=b", "type": "major", "state": "initiated", "worker": None, "error": None},
        {"compaction": 1, "partition": "ds=a", "type": "minor", "state": "succeeded", "worker": "w", "error": None},
    ]
    assert batch.column("started").cast(pa.int64()).to_pylist() == [None, 5000]
    assert batch.column("ended").cast(pa.int64()).to_pylist() == [None, 6500]


def test_an_embedded_metastore_keeps_the_list_too(hive: HiveConnector, metastore: Metastore) -> None:
    with ReferenceQuery(hive) as query:
        for name in ("t", "plain"):
            found = query.metadata.get_system_table(
                query.session, SystemTableName(SchemaTableName("s", name), "compactions")
            )
            assert found is not None
            assert sum(len(batch) for batch in found.read(query.session, TupleDomain.all())) == 0
    assert compact(hive, hive.metastore) == {"compaction": 1, "state": "initiated", "accepted": True}
