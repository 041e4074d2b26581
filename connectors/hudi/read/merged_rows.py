"""How the rows of a slice differ from those of its base file, for engines that read that file. Executor side."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pyarrow as pa

from connector_spi.optional.native_files import MergedRows
from connector_spi.predicate import TupleDomain
from connectors.hudi.merge.base import LogMerge
from connectors.hudi.merge.merged import base_ordering
from connectors.hudi.read.applied_logs import applied_log, base_rows, inserted_keys, joined
from connectors.hudi.read.log_events import slice_merge_columns
from connectors.hudi.read.merged_logs import SliceMerge
from connectors.hudi.read.merged_page_source import shaped
from connectors.hudi.read.slice_read import SliceRead

__all__ = ["merged_rows"]


def merged_rows(read: SliceRead) -> MergedRows:
    """The positions of the base file's rows that the logs remove, and the rows that they bring.

    Args:
        read: A split of a Parquet file whose rows are those of the table but for the logs, or one of logs alone. Its
            predicate is not looked at.
    """
    everything = read.with_columns(read.columns, TupleDomain.all())
    removed: list[np.ndarray] = []
    added: list[pa.RecordBatch] = []
    logs = SliceMerge(everything)
    with closing(logs.parts()) as parts:
        for keys, kept in parts:
            if kept.log is None:
                continue
            merge = LogMerge(kept.log, kept.index)
            if merge.decides:
                applied = applied_log(everything, kept, merge, keys, logs.identity)
                removed.append(applied.removed)
                added += merge.rows_of(applied.numbers)
            else:
                columns = slice_merge_columns(everything, kept.form)
                for positions, rows, found in base_rows(everything, merge, columns, keys):
                    base = rows.select(columns.names).combine_chunks().to_batches()[0]
                    gone, made = merge.replace(base, found, base_ordering(rows, columns), columns.filled(rows))
                    removed.append(positions[gone])
                    added += made
                added += merge.rows_of(inserted_keys(everything, merge, columns))
    shown = [shaped(everything, batch) for batch in added]
    return MergedRows(pa.array(joined(removed)), pa.Table.from_batches(shown, schema=everything.schema))
