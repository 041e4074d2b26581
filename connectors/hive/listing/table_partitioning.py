"""How rows of tables lie in splits: by partition keys, by buckets and in order where files prove it.

Driver side.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa

from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, Split
from connector_spi.optional.partitioning import TablePartitioning
from connector_spi.optional.top_n import SortItem
from connector_spi.optional.writing import BucketFunction
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import TupleDomain, Value
from connector_spi.properties import PropertyMetadata
from connector_spi.session import ConnectorSession
from connectors.hive.buckets.layout import BUCKET_EXECUTION, Bucketing
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.listing.bucket_proof import BucketProof
from connectors.hive.listing.order_proof import OrderProof, has_order
from connectors.hive.transaction import HiveTransaction
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HivePartitioning"]

_MOST_FILES = 512
"""More files are not looked at while a query is planned."""
_MOST_BYTES = 1 << 30
"""Of files of which a column is read while a query is planned."""
_THREADS = 16


class HivePartitioning:
    """What splits of tables have in common.

    Args:
        files: Storage.
        transaction: The transaction.
        pages: Reads rows of files.
        memory: Session property: most bytes of what the process keeps of that.
    """

    def __init__(
        self,
        files: FileSystem,
        transaction: HiveTransaction,
        pages: PageSourceProvider,
        memory: PropertyMetadata[int],
    ) -> None:
        self._partitioned = transaction
        self._memory = memory
        self._bucket_files = files
        self._pages = pages

    def get_table_partitioning(self, session: ConnectorSession, table: HiveTableHandle) -> TablePartitioning | None:
        """Partition keys, and Hive's buckets of columns whose equal values have equal hashes."""
        if table.changes is not None:
            return None
        padded = {name for name, rule in table.text_rules if rule.kind == "char"}
        keys = tuple(key.name for key in table.partition_keys)
        if padded.intersection(keys):
            # Directories may have one value with and without its blanks.
            keys = ()
        bucketing, bucket = table.bucketing, None
        if bucketing is not None and session.get(BUCKET_EXECUTION) and _has_equal_hashes(bucketing):
            names = tuple(column.name for column in bucketing.columns)
            bucket = BucketFunction(f"hive {bucketing.version}", names, bucketing.texts, bucketing.count)
        return TablePartitioning(keys, bucket) if keys or bucket is not None else None

    def get_partition_keys(
        self, session: ConnectorSession, table: HiveTableHandle, splits: Sequence[Split], asked: TablePartitioning
    ) -> Sequence[tuple[Value | None, ...]] | None:
        """Buckets are those of the files' names, where the first rows of every file are of its bucket."""
        found = [split for split in splits if isinstance(split, HiveSplit)]
        if len(found) != len(splits):
            raise InternalError(f"expected HiveSplits, met {splits!r:.200}")
        if asked.bucketed_by is not None and not self._are_bucketed(session, table, found):
            return None
        keys = []
        for split in found:
            values = dict(split.partition_values)
            bucket = () if asked.bucketed_by is None else (split.bucket,)
            keys.append((*(values[name] for name in asked.partitioned_by), *bucket))
        return keys

    def get_sort_order(
        self, session: ConnectorSession, table: HiveTableHandle, groups: Sequence[Sequence[Split]]
    ) -> Sequence[SortItem]:
        """The first column of ``SORTED BY``, where each group is of one file, which has all its rows in that order.

        Hive before 2.0 made sorting optional (``hive.enforce.sorting``), and nothing in a file says that it is sorted:
        so the column is read once.
        """
        order = self._partitioned.table(table.name).storage.sort_columns
        columns = {column.name: column for column in table.data_columns}
        if table.changes is not None or not order or not order[0].ascending:
            return ()
        column = columns.get(order[0].name.lower())
        if column is None or not has_order(column) or column.name in dict(table.text_rules):
            return ()
        files = [_one_file(group) for group in groups if group]
        found = [split for split in files if split is not None]
        if len(found) < len(files) or len(found) > _MOST_FILES or sum(one.file_size for one in found) > _MOST_BYTES:
            return ()
        proof = OrderProof(
            files=self._bucket_files,
            pages=self._pages,
            session=session,
            table=_with_all_rows(table),
            column=column,
            memory=session.get(self._memory),
        )
        return (SortItem(column, ascending=True, nulls_first=True),) if _all_hold(proof, found) else ()

    def _are_bucketed(self, session: ConnectorSession, table: HiveTableHandle, splits: Sequence[HiveSplit]) -> bool:
        """Whether all files have a bucket in their names, and first rows of that bucket.

        Hive before 2.0 made bucketing optional (``hive.enforce.bucketing``), other writers may use another hash, and
        ALTER TABLE changes the number of buckets and the types of columns in the metastore only.
        """
        if table.bucketing is None or any(split.bucket is None for split in splits):
            return False
        first: dict[str, HiveSplit] = {}
        for split in splits:
            if split.path not in first or split.start < first[split.path].start:
                first[split.path] = split
        if len(first) > _MOST_FILES:
            return False
        proof = BucketProof(
            files=self._bucket_files,
            pages=self._pages,
            session=session,
            table=_with_all_rows(table),
            bucketing=table.bucketing,
            memory=session.get(self._memory),
        )
        return _all_hold(proof, list(first.values()))


def _all_hold(proof: BucketProof | OrderProof, splits: Sequence[HiveSplit]) -> bool:
    if len(splits) < 2:
        return all(map(proof.holds, splits))
    with ThreadPoolExecutor(min(_THREADS, len(splits)), thread_name_prefix="hive-proofs") as pool:
        return all(pool.map(proof.holds, splits))


def _one_file(group: Sequence[Split]) -> HiveSplit | None:
    """The first of splits that are of one file, and in its order; ``None`` where they are not."""
    splits = [split for split in group if isinstance(split, HiveSplit)]
    starts = [split.start for split in splits]
    is_one = len({split.path for split in splits}) == 1 and all(split.acid is None for split in splits)
    return splits[0] if is_one and len(splits) == len(group) and starts == sorted(starts) else None


def _has_equal_hashes(bucketing: Bucketing) -> bool:
    """Not of floating-point numbers, whose two zeros are equal, nor of dates, whose days Hive 2 counts otherwise."""
    types = [column.type for column in bucketing.columns]
    return bucketing.has_hashes and not any(pa.types.is_floating(one) or pa.types.is_date32(one) for one in types)


def _with_all_rows(table: HiveTableHandle) -> HiveTableHandle:
    everything = TupleDomain[ColumnHandle].all()
    return replace(table, constraint=everything, columns=None, aggregation=None, alternatives=(), conditions=())
