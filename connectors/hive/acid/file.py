"""Files of a transactional table as they travel to tasks."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.plain_data import PlainData

__all__ = ["AcidFile", "DeleteFile", "SyntheticKeys"]


@dataclass(frozen=True, slots=True)
class SyntheticKeys(PlainData):
    """Row ids of a file that has none: row n of it is ``(write_id, bucket_property, first_row_id + n)``.

    Attributes:
        write_id: 0 for files older than the table's transactions; else that of the folder they were loaded into.
        bucket_property: Of each row of the file.
        first_row_id: Row id of the file's first row.
    """

    write_id: int
    bucket_property: int
    first_row_id: int


@dataclass(frozen=True, slots=True)
class DeleteFile(PlainData):
    """A file of delete events for one bucket.

    Attributes:
        path: The file.
        size: Bytes.
        modified_millis: Modification time, milliseconds since 1970, UTC.
        first: The smallest write id of its folder.
        last: The greatest write id of its folder.
        statement: Of its folder; -1 where the name has none.
        check_write_ids: Some write ids of the folder are not visible, so each event's own has to be checked.
    """

    path: str
    size: int
    modified_millis: int
    first: int
    last: int
    statement: int = -1
    check_write_ids: bool = False


@dataclass(frozen=True, slots=True)
class AcidFile(PlainData):
    """A data file of a full ACID table.

    In a delta, rows whose operation is not 0 are of the older layout (ACID v1, without delete deltas) and have to be
    refused; in a base 0 and 1 are rows, since compaction in Hive 1 and 2 left updates as they were, and 2 has to be
    refused.

    Attributes:
        path: The file.
        size: Bytes that count: less than the file has while a streaming writer holds it open. The footer ends there.
        modified_millis: Modification time, milliseconds since 1970, UTC.
        bucket: Bucket by the file's name; -1 where it has none.
        directory: Name of the base or delta that it lies in; empty for files older than the table's transactions.
        original: The file has the table's columns only, not the ACID columns around them.
        check_write_ids: Some write ids of the folder are not visible, so each row's own has to be checked.
        keys: Row ids of an original file; ``None`` where the file holds them, or they are not needed.
        deletes: Files whose events may be of rows of this file.
    """

    path: str
    size: int
    modified_millis: int
    bucket: int
    directory: str = ""
    original: bool = False
    check_write_ids: bool = False
    keys: SyntheticKeys | None = None
    deletes: tuple[DeleteFile, ...] = ()
