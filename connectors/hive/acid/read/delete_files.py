"""Reading the keys of files of delete events. Executor side.

Only key columns are read: the struct of the table's columns is NULL in every event, and filters on it would skip all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import orc

from connectors.hive.acid.delete_set import Int64s, KeyRuns
from connectors.hive.acid.file import DeleteFile
from connectors.hive.acid.key_columns import (
    CURRENT_TRANSACTION,
    KEY,
    OPERATION,
    acid_columns,
    check_operations,
    has_current_layout,
    int64_values,
)
from connectors.hive.acid.key_range import ALL_KEYS, KeyRange, StripeRanges
from connectors.hive.acid.valid_ids import ValidIds
from connectors.toolkit.orc.footer import OrcFooter, read_orc_footer
from connectors.toolkit.orc.reader import orc_errors
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["OpenDeleteFile", "open_delete_file"]


@dataclass(frozen=True, slots=True)
class OpenDeleteFile:
    """An open file of delete events, to be closed.

    Attributes:
        delete: The file.
        source: Open.
        footer: Its footer.
    """

    delete: DeleteFile
    source: pa.NativeFile
    footer: OrcFooter

    @property
    def rows(self) -> int:
        """Events of the file, also those that are not visible."""
        return self.footer.rows

    def read(self, visible: ValidIds, keys: KeyRange = ALL_KEYS) -> Iterator[KeyRuns]:
        """Keys of the visible events, stripe by stripe; events outside of ``keys`` may come, too.

        Raises:
            CorruptFileError: It cannot be read as a file of delete events.
            NotSupportedError: It holds other events.
        """
        for stripe in self._stripes(keys, dated=self.delete.check_write_ids):
            if stripe.write_ids is None:
                yield KeyRuns.of(*stripe.keys)
            else:
                mask = visible.valid_mask(stripe.write_ids)
                yield KeyRuns.of(*(column[mask] for column in stripe.keys))

    def read_dated(self, visible: ValidIds, after: int) -> Iterator[tuple[KeyRuns, Int64s]]:
        """Keys of the visible events of write ids above ``after``, stripe by stripe, and the write id of each event.

        Raises:
            CorruptFileError: It cannot be read as a file of delete events.
            NotSupportedError: It holds other events.
        """
        for stripe in self._stripes(ALL_KEYS, dated=True):
            assert stripe.write_ids is not None
            mask = visible.valid_mask(stripe.write_ids) & (stripe.write_ids > after)
            yield KeyRuns.of(*(column[mask] for column in stripe.keys)), stripe.write_ids[mask]

    def close(self) -> None:
        """Closes the file."""
        self.source.close()

    def _stripes(self, keys: KeyRange, *, dated: bool) -> Iterator[_Stripe]:
        path = self.delete.path
        if not self.footer.rows:
            return
        with orc_errors(path):
            file = orc.ORCFile(self.source)
            names = acid_columns(file.schema, path)
            wanted = [names[at] for at in KEY]
            operations = None if has_current_layout(self.footer) else names[OPERATION]
            transactions = names[CURRENT_TRANSACTION] if dated else None
            asked = [*wanted, *(name for name in (operations, transactions) if name)]
            ranges = None if keys == ALL_KEYS else StripeRanges(self.source, self.footer)
            for index, one in enumerate(self.footer.stripes):
                if not one.rows or (ranges is not None and not ranges.overlaps(index, keys)):
                    continue
                stripe = file.read_stripe(index, columns=asked)
                if operations:
                    check_operations(int64_values(stripe.column(operations), path), "delete_delta", path)
                write_ids, buckets, row_ids = (int64_values(stripe.column(name), path) for name in wanted)
                dates = int64_values(stripe.column(transactions), path) if transactions else None
                yield _Stripe((write_ids, buckets, row_ids), dates)


@dataclass(frozen=True, slots=True)
class _Stripe:
    """Keys of events: their write ids, buckets and row ids; and the write ids that deleted them, if asked for."""

    keys: tuple[Int64s, Int64s, Int64s]
    write_ids: Int64s | None


def open_delete_file(files: FileSystem, delete: DeleteFile) -> OpenDeleteFile:
    """Opens a file of delete events and reads its footer.

    Raises:
        FileMissingError: It is gone: compaction and the cleaner took it.
        CorruptFileError: It is no ORC file.
    """
    source = files.open(delete.path)
    try:
        with orc_errors(delete.path):
            return OpenDeleteFile(delete, source, read_orc_footer(source, delete.path))
    except BaseException:
        source.close()
        raise
