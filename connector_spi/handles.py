"""What the engine carries around without looking inside.

All of it is Serializable: equal after a pickle and after JSON, without secrets (invariant I2).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from connector_spi.serializable import Serializable

if TYPE_CHECKING:
    # It has defaults, which Python has from 3.13: ``ConnectorMetadata`` alone is of any table.
    from typing_extensions import TypeVar

__all__ = ["ColumnHandle", "NativeFile", "Split", "SplitT_co", "TableHandle", "TableT_co"]


class TableHandle(Serializable):
    """A table at one snapshot, with everything that was pushed into it.

    The snapshot is fixed when ``ConnectorMetadata.get_table_handle`` makes the handle (invariant I1).
    Subclasses are frozen, slotted dataclasses.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ColumnHandle(Serializable):
    """A column of a table, or the part of a nested column that a query uses.

    Attributes:
        name: As in the table's metadata.
        type: Arrow type of what is read. The engine narrows nested types to the fields used with
            ``dataclasses.replace(handle, type=...)``: ``struct<x, y>`` becomes ``struct<x>``.
    """

    name: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class NativeFile(Serializable):
    """A range of a data file whose rows are the table's rows as they stand: no deletes, logs or coercions.

    The engine may read it natively, with a reader of its own. A time without zone is the number in the file, taken for
    a time of UTC, whatever the file says of zones and calendars.

    Attributes:
        format: ``parquet`` or ``orc``.
        path: URI of the file, its path not percent-encoded.
        start: First byte of the range; rows of row groups or stripes whose middle lies in the range belong to it.
        length: Bytes of the range.
        file_size: Bytes of the whole file.
        modified_millis: Modification time, milliseconds since 1970, UTC.
        constants: Values of columns that the file does not hold (partition keys, hidden columns), by column name.
    """

    format: str
    path: str
    start: int
    length: int
    file_size: int
    modified_millis: int
    constants: tuple[tuple[str, object], ...] = ()


class Split(Serializable):
    """One piece of a scan: what one page source reads. Subclasses are frozen, slotted dataclasses."""

    __slots__ = ()

    @property
    @abstractmethod
    def size_bytes(self) -> int:
        """Bytes to be read, as far as known; the engine packs small splits into one task by it."""

    def cut(self, most_bytes: int) -> Sequence[Split]:
        """The same rows as splits of about ``most_bytes`` at most, each row in one of them; itself where it is a whole.

        The engine cuts splits that are larger than the work of one core. Not smaller than pays: what every part would
        read again, such as deletes, counts.
        """
        return (self,)

    @property
    def native_file(self) -> NativeFile | None:
        """The file range that the engine may read itself; ``None`` where only the connector can read it."""
        return None


# Covariant though they are parameters of methods: the engine gives a connector only handles that it made itself, so
# metadata of MyTable serves where metadata of any table is asked for.
if TYPE_CHECKING:
    TableT_co = TypeVar("TableT_co", bound=TableHandle, covariant=True, default=TableHandle)
    SplitT_co = TypeVar("SplitT_co", bound=Split, covariant=True, default=Split)
else:
    from typing import TypeVar

    TableT_co = TypeVar("TableT_co", bound=TableHandle, covariant=True)
    SplitT_co = TypeVar("SplitT_co", bound=Split, covariant=True)
