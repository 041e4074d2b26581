"""Row ids of files that hold none: files older than a table's transactions, and files loaded into a folder of them.

Hive numbers the rows of all such files of one bucket in one folder, in the order of their paths, and has stored those
numbers in delete events: so the rules are frozen (``VectorizedOrcAcidRowBatchReader.computeOffsetAndBucket``,
``OrcRawRecordMerger.TransactionMetaData``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.acid.file import AcidFile, DeleteFile, SyntheticKeys
from connectors.hive.acid.layout import bucket_of_file, bucket_property
from connectors.toolkit.storage.filesystem import FileInfo

__all__ = ["OriginalFiles", "keyed_files", "path_order"]

_THREADS = 8
# What java.net.URI quotes in a path: Hadoop compares paths as quoted URIs.
_QUOTED = re.compile(r"[\x00-\x20\"#%<>?\[\\\]^`{|}\x7f]")


@dataclass(frozen=True, slots=True)
class OriginalFiles:
    """All files without ACID columns of one folder.

    Attributes:
        files: All that have rows, also in folders below.
        directory: Name of the base or delta that they were loaded into; empty for those older than transactions.
        write_id: Of their rows: 0 for those older than transactions.
        statement: Of the folder; -1 where its name has none.
        deletes: Files of delete events that may be of their rows, by bucket.
    """

    files: tuple[FileInfo, ...]
    directory: str
    write_id: int
    statement: int
    deletes: dict[int, tuple[DeleteFile, ...]]

    def buckets(self) -> dict[int, list[FileInfo]]:
        """The files by bucket, -1 for names that tell none, each in the order of their paths."""
        by_bucket: dict[int, list[FileInfo]] = {}
        for info in sorted(self.files, key=lambda info: path_order(info.path)):
            by_bucket.setdefault(bucket_of_file(info.name), []).append(info)
        return by_bucket


def path_order(path: str) -> bytes:
    """A key that sorts paths as Java compares ``Path`` objects: quoted, by units of UTF-16."""
    return _QUOTED.sub(lambda found: f"%{ord(found.group()):02X}", path).encode("utf-16-be", "surrogatepass")


def keyed_files(
    folders: Iterable[OriginalFiles], *, row_ids_needed: bool, count_rows: Callable[[str], int]
) -> list[AcidFile]:
    """The files with the row ids of their first rows.

    Rows are counted only in chains of several files that need row ids, each file once, in threads.

    Args:
        folders: Each with all of its files: one that is missing would shift the others.
        row_ids_needed: Whether row ids are needed where no delete events are.
        count_rows: The rows of a file, by its path.

    Raises:
        NotSupportedError: Row ids are needed of a file whose name tells no bucket.
    """
    chains = [(folder, bucket, files) for folder in folders for bucket, files in folder.buckets().items()]
    keyed = [row_ids_needed or bool(_deletes(folder, bucket)) for folder, bucket, _ in chains]
    for (folder, bucket, files), needed in zip(chains, keyed, strict=True):
        if needed and bucket < 0:
            raise _no_bucket(files[0], folder, row_ids_needed)
    counted = [
        info.path
        for (_, _, files), needed in zip(chains, keyed, strict=True)
        if needed and len(files) > 1
        for info in files
    ]
    rows = dict(zip(counted, _count(counted, count_rows), strict=True))
    made = []
    for (folder, bucket, files), needed in zip(chains, keyed, strict=True):
        first_row = 0
        for info in files:
            keys = None
            if needed:
                keys = SyntheticKeys(folder.write_id, bucket_property(bucket, folder.statement, info.path), first_row)
                first_row += rows.get(info.path, 0)
            made.append(_acid_file(info, folder, bucket, keys))
    return made


def _acid_file(info: FileInfo, folder: OriginalFiles, bucket: int, keys: SyntheticKeys | None) -> AcidFile:
    return AcidFile(
        info.path,
        info.size,
        info.modified_millis,
        bucket,
        folder.directory,
        original=True,
        keys=keys,
        deletes=_deletes(folder, bucket),
    )


def _deletes(folder: OriginalFiles, bucket: int) -> tuple[DeleteFile, ...]:
    if bucket >= 0:
        return folder.deletes.get(bucket, ())
    # Of a file without a bucket any event could be.
    return tuple(one for files in folder.deletes.values() for one in files)


def _count(paths: Sequence[str], count_rows: Callable[[str], int]) -> list[int]:
    if len(paths) < 2:
        return [count_rows(path) for path in paths]
    with ThreadPoolExecutor(min(_THREADS, len(paths)), thread_name_prefix="hive-footers") as pool:
        return list(pool.map(count_rows, paths))


def _no_bucket(info: FileInfo, folder: OriginalFiles, row_ids_needed: bool) -> NotSupportedError:
    why = "row ids are selected" if row_ids_needed else "rows of the table have been deleted or updated"
    return NotSupportedError(
        f"{info.path} cannot be given row ids, and {why}: its name tells no bucket (expected one such as 000000_0 or "
        f"000000_0_copy_1); Hive cannot tell its rows apart either: rewrite {folder.directory or 'the table'}",
        error_codes.HIVE_ACID_LAYOUT,
    )
