"""Puts the transactional tables that real Hive wrote into a real metastore, with exactly their write ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, cast

from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from thrift.Thrift import TType

from connectors.hive.acid.valid_ids import ValidIds
from tests.hive_corpus import require_corpus

__all__ = ["CorpusTable", "put_case", "put_history"]

T = TypeVar("T")

_HISTORY = 600
_AT_ONCE = 10
_FIRST_AFTER_CONVERSION = 10_000_001


class CorpusTable:
    """A table in the metastore.

    Attributes:
        name: Of the case and of the table.
        write_ids: What Hive said of it.
        open: Transactions whose write ids are open; somebody has to keep them alive.
    """

    def __init__(self, name: str, write_ids: ValidIds, still_open: Sequence[int]) -> None:
        self.name = name
        self.write_ids = write_ids
        self.open = tuple(still_open)


def put_history(client: ThriftHiveMetastore.Client) -> None:
    """Commits all transactions that names of compacted folders tell (533 is the last): else they are not visible."""
    for _ in range(0, _HISTORY, _AT_ONCE):
        opened = client.open_txns(ttypes.OpenTxnRequest(_AT_ONCE, "corpus", "localhost")).txn_ids
        for transaction in opened:
            client.commit_txn(ttypes.CommitTxnRequest(transaction))


def put_case(
    client: ThriftHiveMetastore.Client, schema: str, case: str, elsewhere: Path, keep: Callable[[int], object]
) -> CorpusTable:
    """Makes a table of a case, at the case's own folder.

    Args:
        client: The metastore.
        schema: A database that is there.
        case: Name of the case.
        elsewhere: An empty folder: the metastore judges the names of files when a table is converted.
        keep: Told of each transaction that stays open.
    """
    folder = require_corpus() / case
    # Hive's locations are not percent-encoded.
    dump = json.loads((folder / "metastore.json").read_text().replace("${TABLE}", f"file://{folder / 'table'}"))
    write_ids = ValidIds.parse_write_ids(dump["valid_write_id_list"])
    is_converted = write_ids.high_watermark >= _FIRST_AFTER_CONVERSION - 1
    _put_table(client, schema, case, dump, elsewhere if is_converted else None)
    for raw in dump["partitions"]:
        partition = _thrift(ttypes.Partition, raw)
        partition.dbName, partition.tableName = schema, case
        client.add_partition(partition)
    first = _FIRST_AFTER_CONVERSION if is_converted else 1
    count = write_ids.high_watermark - first + 1
    given = _allocate(client, schema, case, count, keep)
    assert [one.writeId for one in given] == list(range(first, first + count))
    still_open = []
    for one in given:
        if write_ids.is_aborted(one.writeId):
            client.abort_txn(ttypes.AbortTxnRequest(one.txnId))
        elif write_ids.is_valid(one.writeId):
            client.commit_txn(ttypes.CommitTxnRequest(one.txnId))
        else:
            still_open.append(one.txnId)
    return CorpusTable(case, write_ids, still_open)


def _put_table(
    client: ThriftHiveMetastore.Client, schema: str, case: str, dump: Mapping[str, object], elsewhere: Path | None
) -> None:
    table = _thrift(ttypes.Table, cast(Mapping[str, object], dump["table"]))
    table.dbName, table.tableName = schema, case
    if elsewhere is None:
        client.create_table(table)
        return
    # The server itself starts the write ids of a table that is converted at 10,000,001.
    parameters, place = dict(table.parameters), table.sd.location
    table.parameters = {name: value for name, value in parameters.items() if not name.startswith("transactional")}
    table.sd.location = elsewhere.as_uri()
    client.create_table(table)
    table.parameters = parameters
    client.alter_table(schema, case, table)
    table.sd.location = place
    client.alter_table(schema, case, table)


def _allocate(
    client: ThriftHiveMetastore.Client, schema: str, case: str, count: int, keep: Callable[[int], object]
) -> list[ttypes.TxnToWriteId]:
    if not count:
        return []
    opened = client.open_txns(ttypes.OpenTxnRequest(count, "corpus", "localhost")).txn_ids
    for transaction in opened:
        keep(transaction)
    request = ttypes.AllocateTableWriteIdsRequest(schema, case, opened)
    found: Iterable[ttypes.TxnToWriteId] = client.allocate_table_write_ids(request).txnToWriteIds
    return sorted(found, key=lambda one: one.writeId)


def _thrift(kind: type[T], value: Mapping[str, object]) -> T:
    """A struct out of its JSON, whose names are those of the fields."""
    made = kind()
    for field in filter(None, getattr(kind, "thrift_spec")):  # noqa: B009
        _, thrift_type, name, arguments, _ = field
        if value.get(name) is not None:
            setattr(made, name, _value(thrift_type, arguments, value[name]))
    return made


def _value(thrift_type: int, arguments: Sequence[object], value: object) -> object:
    if thrift_type == TType.STRUCT:
        return _thrift(cast("type[object]", arguments[0]), cast(Mapping[str, object], value))
    if thrift_type == TType.LIST:
        inner = (cast(int, arguments[0]), cast(Sequence[object], arguments[1]))
        return [_value(*inner, item) for item in cast(Sequence[object], value)]
    if thrift_type == TType.MAP:
        inner = (cast(int, arguments[2]), cast(Sequence[object], arguments[3]))
        return {key: _value(*inner, item) for key, item in cast(Mapping[str, object], value).items()}
    return value
