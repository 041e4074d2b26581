"""Which file each row goes to. Executor side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError
from connector_spi.partition_names import DEFAULT_PARTITION
from connectors.hive.partitions.key_texts import value_text
from connectors.hive.write.handles import HiveInsertHandle

__all__ = ["FileKey", "check_keys", "rows_of_files"]

Codes = npt.NDArray[np.int64]


class FileKey(NamedTuple):
    """What the rows of one file have in common.

    Attributes:
        partition: Texts of a partition's key values; empty where the table has no keys.
        bucket: The bucket; ``None`` where the table has none.
    """

    partition: tuple[str, ...]
    bucket: int | None = None


def check_keys(batch: pa.RecordBatch, insert: HiveInsertHandle) -> None:
    """Checks the values of partition keys.

    Raises:
        InvalidArgumentError: A key is an empty text, or the one that stands for NULL: Hive takes both for NULL.
    """
    for key in insert.partition_keys:
        if not pa.types.is_string(key.type):
            continue
        for text, spoken in (("", "an empty text"), (DEFAULT_PARTITION, f"the text {DEFAULT_PARTITION}")):
            if pc.any(pc.equal(batch.column(key.name), text)).as_py():
                raise InvalidArgumentError(
                    f"partition key '{key.name}' is {spoken}, which Hive takes for NULL; write NULL or another text"
                )


def rows_of_files(rows: pa.Table, insert: HiveInsertHandle) -> Iterator[tuple[FileKey, pa.Table]]:
    """The rows of each file in their order, those of the file with the most rows first.

    Args:
        rows: Columns of the files and partition keys; many at once, since each call takes all columns apart.
        insert: Says the partition keys and the buckets.
    """
    data = rows.select([column.name for column in insert.data_columns])
    if not insert.partition_keys and insert.buckets is None:
        yield FileKey(()), data
        return
    partitions, codes = _partitions(rows, insert)
    count = 1
    if insert.buckets is not None:
        bucketing = insert.buckets.bucketing
        count = bucketing.count
        found = bucketing.buckets([rows.column(column.name).combine_chunks() for column in bucketing.columns])
        codes = codes * count + found.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    sorted_data, sorted_codes = data.take(pa.array(order)), codes[order]
    starts = np.flatnonzero(np.diff(sorted_codes, prepend=-1))
    lengths = np.diff(starts, append=len(codes))
    for position in np.argsort(-lengths, kind="stable"):
        partition, bucket = divmod(int(sorted_codes[starts[position]]), count)
        key = FileKey(partitions[partition], None if insert.buckets is None else bucket)
        yield key, sorted_data.slice(int(starts[position]), int(lengths[position]))


def _partitions(rows: pa.Table, insert: HiveInsertHandle) -> tuple[list[tuple[str, ...]], Codes]:
    """The texts of the key values of each partition as Hive writes them, and the number of that of each row."""
    partitions: list[tuple[str, ...]] = [()]
    codes: Codes = np.zeros(rows.num_rows, np.int64)
    for key in insert.partition_keys:
        encoded = rows.column(key.name).combine_chunks().dictionary_encode(null_encoding="encode")
        texts = [value_text(value) for value in encoded.dictionary.to_pylist()]
        own = encoded.indices.to_numpy(zero_copy_only=False)
        met, codes = np.unique(codes * len(texts) + own, return_inverse=True)
        partitions = [(*partitions[one // len(texts)], texts[one % len(texts)]) for one in met.tolist()]
    return partitions, codes
