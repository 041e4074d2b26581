"""A data file of a full ACID table that is being read. Executor side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyarrow import orc

from connector_spi.errors import InternalError
from connector_spi.scan_counters import count
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.key_columns import (
    ACID_HIDDEN_COLUMNS,
    ROW,
    acid_columns,
    has_current_layout,
    hidden_array,
)
from connectors.hive.acid.key_range import StripeRanges
from connectors.hive.acid.read.stripe_keys import CountedKeys, Keys, StoredColumns, StoredKeys, StripeKeys
from connectors.hive.acid.valid_ids import ValidIds
from connectors.toolkit.orc.columns import OrcColumns
from connectors.toolkit.orc.file import OrcFile
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.read.open_file import FileColumns
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.storage.file_head import file_head
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HIDDEN_NAMES", "AcidRead", "OpenAcidFile", "open_acid_file"]

_LEFT_OUT = "rows left out as deleted or not visible"
HIDDEN_NAMES = frozenset(column.name for column in ACID_HIDDEN_COLUMNS)


@dataclass(frozen=True, slots=True)
class AcidRead:
    """The read of a range of a data file.

    Attributes:
        read: What to read, with the columns that are made of row keys among ``synthetic``.
        acid: The file, with the deletes that may be of its rows.
        visible: Write ids that are visible.
        delete_memory: Most bytes of deletes that this process keeps.
        needs_keys: Row keys are needed, although no column shows them.
    """

    read: FileRead
    acid: AcidFile
    visible: ValidIds
    delete_memory: int
    needs_keys: bool = False


class OpenAcidFile(OrcFile):
    """An open file. Its keys are looked at with the first stripe: INSERT OVERWRITE of nothing leaves another schema.

    Args:
        files: Storage.
        asked: What to read.
        source: The file, up to the bytes that count.

    Attributes:
        files: Storage.
        asked: What to read.
    """

    def __init__(self, files: FileSystem, asked: AcidRead, source: pa.NativeFile) -> None:
        super().__init__(source, asked.read)
        self.files = files
        self.asked = asked
        self._hidden = tuple(column for column in asked.read.columns if column.name in HIDDEN_NAMES)

    def with_visibility(self, columns: FileColumns) -> FileColumns:
        if not isinstance(columns, OrcColumns):
            raise InternalError(f"{type(columns).__name__} are no columns of {self.read.path}")
        return _SeenColumns(self, columns)

    @property
    def root(self) -> str:
        return "" if self.asked.acid.original else self._names[ROW]

    @property
    def gives_every_row(self) -> bool:
        """No row can be deleted, not be visible, or be an event of another kind than an insert."""
        acid = self.asked.acid
        return not acid.deletes and not acid.check_write_ids and self.keys.prove_rows

    @cached_property
    def keys(self) -> Keys:
        """Keys of the rows.

        Raises:
            CorruptFileError: It is no ACID file.
        """
        asked = self.asked
        shown = bool(self._hidden) or asked.needs_keys
        if asked.acid.original:
            return CountedKeys(asked.acid, self.footer, shown)
        columns = StoredColumns(self._names, StripeRanges(self.source, self.footer), has_current_layout(self.footer))
        return StoredKeys(asked.acid, columns, asked.visible, shown)

    def hidden_arrays(self, keys: StripeKeys) -> dict[str, pa.Array]:
        """The columns that show the keys of a stripe, by name."""
        if keys.shown is None:
            return {}
        write_ids, buckets, row_ids = keys.shown
        path = self.read.path
        return {column.name: hidden_array(column, write_ids, buckets, row_ids, path) for column in self._hidden}

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return acid_columns(orc.ORCFile(self.source).schema, self.read.path)


class _SeenColumns(FileColumns):
    """Some columns, decoded together with the row keys that tell which rows a reader sees."""

    def __init__(self, file: OpenAcidFile, columns: OrcColumns) -> None:
        self._file = file
        self._columns = columns

    @property
    def adapter(self) -> SchemaAdapter:
        return self._columns.adapter

    @property
    def is_read(self) -> bool:
        return self._columns.is_read

    @property
    def separable(self) -> bool:
        return self._columns.separable

    def decode(self, part: FileRows) -> Iterator[FileRows]:
        keys, index = self._file.keys, part.part
        if keys.sees_none(index):
            count(_LEFT_OUT, part.count)
            return
        asked = keys.columns(index)
        if self._file.asked.acid.deletes and not asked:
            count("stripes that no delete touches")
        stripe = self._columns.read(index, asked)
        known = keys.of_stripe(index, stripe.extra)
        kept = None
        if known.dropped is not None:
            count(_LEFT_OUT, int(np.count_nonzero(known.dropped)))
            if known.dropped.all():
                return
            kept = pa.array(~known.dropped)
        arrays = {**stripe.columns, **self._file.hidden_arrays(known)}
        yield FileRows(index, part.start, part.count, arrays, kept)


@contextmanager
def open_acid_file(files: FileSystem, asked: AcidRead) -> Iterator[OpenAcidFile]:
    """Opens a file and reads its footer."""
    with files.open(asked.read.path) as whole:
        opened = OpenAcidFile(files, asked, file_head(whole, asked.acid.size, asked.read.path))
        try:
            yield opened
        finally:
            opened.release()
