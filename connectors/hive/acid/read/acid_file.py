"""A data file of a full ACID table that is being read. Executor side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
from pyarrow import orc

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
from connectors.toolkit.orc.file import OrcFile
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.storage.file_head import file_head
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HIDDEN_NAMES", "AcidRead", "OpenAcidFile", "open_acid_file"]

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


@contextmanager
def open_acid_file(files: FileSystem, asked: AcidRead) -> Iterator[OpenAcidFile]:
    """Opens a file and reads its footer."""
    with files.open(asked.read.path) as whole:
        yield OpenAcidFile(files, asked, file_head(whole, asked.acid.size, asked.read.path))
