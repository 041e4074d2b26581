"""Rows of a range of a data file of a full ACID table, without those deleted or not visible. Executor side."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import orc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain, Value
from connector_spi.scan_counters import count
from connectors.hive.acid.delete_set import Mask
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS, ROW, acid_columns, hidden_array
from connectors.hive.acid.read.deletes import Deletes, find_deletes
from connectors.hive.acid.read.stripe_keys import CountedKeys, Keys, StoredKeys, StripeKeys
from connectors.hive.acid.valid_ids import ValidIds
from connectors.hive.formats.coercions.rules import ORC_RULES
from connectors.toolkit.orc.footer import OrcFooter, OrcStripe, read_orc_footer
from connectors.toolkit.orc.reader import orc_errors
from connectors.toolkit.orc.stripes import OrcStripes, Stripe, StripeSlice
from connectors.toolkit.read.file_page_source import FilePageSource, SourceResolver
from connectors.toolkit.storage.file_head import file_head
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["AcidPageSource"]

_HIDDEN = frozenset(column.name for column in ACID_HIDDEN_COLUMNS)


class AcidPageSource(FilePageSource):
    """Reads the stripes of one range.

    Stripes that a predicate rules out are skipped: a newer version of a row is a row of its own, and row ids are those
    of the file, or are counted with the stripes skipped. Key columns are read only where they are shown, or where
    deletes may be of the stripe; where nothing is read at all, rows are counted by the footer.

    Args:
        files: Storage.
        acid: The file.
        start: First byte of the range.
        length: Bytes of the range.
        columns: What to read, in output order; ``$row_id`` and ``$bucket`` among them.
        constants: Values of the columns that are not in the file, by name.
        predicate: Of columns of the table.
        sources: Where a column is among the table's columns in the file.
        visible: Write ids that are visible.
        delete_memory: Most bytes of deletes that this process keeps.
        zone: Zone to show instants in where the table's type is a wall-clock time.

    Attributes:
        made_columns: Names of columns that a subclass makes from row keys.
    """

    made_columns: ClassVar[frozenset[str]] = frozenset()

    rules = ORC_RULES

    def __init__(
        self,
        files: FileSystem,
        acid: AcidFile,
        start: int,
        length: int,
        columns: tuple[ColumnHandle, ...],
        constants: Mapping[str, Value | None],
        predicate: TupleDomain[ColumnHandle],
        *,
        sources: SourceResolver,
        visible: ValidIds,
        delete_memory: int,
        zone: str,
    ) -> None:
        super().__init__(files, acid.path, start, length, columns, constants, predicate, sources=sources, zone=zone)
        self._acid = acid
        self._visible = visible
        self._delete_memory = delete_memory
        self._hidden = tuple(column for column in self.file_columns if column.name in _HIDDEN)
        self._data = tuple(column for column in self.file_columns if column.name not in _HIDDEN | self.made_columns)

    def read(self) -> Generator[pa.RecordBatch, None, None]:
        with self.files.open(self.where.path) as whole:
            source = file_head(whole, self._acid.size, self.where.path)
            footer = read_orc_footer(source, self.where.path)
            stripes = [
                index for index, stripe in enumerate(footer.stripes) if self.where.holds(stripe.offset) and stripe.rows
            ]
            # A file without rows may have another schema: INSERT OVERWRITE of nothing leaves one.
            if stripes:
                yield from self._read(source, footer, stripes)

    def errors(self) -> AbstractContextManager[None]:
        return orc_errors(self.where.path)

    def _read(self, source: pa.NativeFile, footer: OrcFooter, stripes: list[int]) -> Iterator[pa.RecordBatch]:
        root, keys = self._keys(source, footer)
        reader = OrcStripes(
            source,
            footer,
            self._data,
            self.sources,
            root=root,
            zone=self.zone,
            where=self.where.path,
            strict=self.strict,
            rules=self.rules,
            batch_rows=self.batch_rows,
        )
        stripes = reader.matching(stripes, self.predicate.keep(lambda column: column.name not in _HIDDEN))
        if self._acid.deletes and stripes:
            found = self._find_deletes()
            keys.deletes = None if found is None else found.within(keys.range(stripes[0], stripes[-1]))
        for index in stripes:
            yield from self._read_stripe(reader, footer.stripes[index], keys, index)

    def _find_deletes(self) -> Deletes | None:
        return find_deletes(self.files, self._acid.deletes, self._visible, self._delete_memory)

    def _keys(self, source: pa.NativeFile, footer: OrcFooter) -> tuple[str, Keys]:
        """The struct that the table's columns are in, and where row keys come from."""
        shown = bool(self._hidden or self.made_columns)
        if self._acid.original:
            return "", CountedKeys(self._acid, footer, shown)
        names = acid_columns(orc.ORCFile(source).schema, self.where.path)
        return names[ROW], StoredKeys(self._acid, footer, names, self._visible, shown)

    def _read_stripe(self, reader: OrcStripes, told: OrcStripe, keys: Keys, index: int) -> Iterator[pa.RecordBatch]:
        extra = keys.columns(index)
        stripe = Stripe(told.rows, [], [])
        if extra or reader.names:
            self.bytes_read += told.length
            stripe = reader.read(index, extra)
        known = keys.of_stripe(index, stripe.extra)
        kept = None if known.dropped is None else ~known.dropped
        if known.dropped is not None:
            count("rows left out as deleted or not visible", int(np.count_nonzero(known.dropped)))
        if kept is not None and not kept.any():
            return
        if not reader.names and not self._hidden:
            yield from self.count(told.rows if kept is None else int(np.count_nonzero(kept)))
            return
        for part in reader.slices(stripe):
            arrays = self._arrays(part, known)
            batch = self.batch([arrays[column.name] for column in self.file_columns], part.rows)
            yield batch if kept is None else _filtered(batch, kept[part.start : part.start + part.rows])

    def _arrays(self, part: StripeSlice, known: StripeKeys) -> dict[str, pa.Array]:
        """The columns of the file, and those that show keys, by name."""
        arrays = dict(zip((column.name for column in self._data), part.arrays, strict=True))
        if known.shown is not None:
            write_ids, buckets, row_ids = (values[part.start : part.start + part.rows] for values in known.shown)
            for column in self._hidden:
                arrays[column.name] = hidden_array(column, write_ids, buckets, row_ids, self.where.path)
        return arrays


def _filtered(batch: pa.RecordBatch, kept: Mask) -> pa.RecordBatch:
    return batch if kept.all() else batch.filter(pa.array(kept))
