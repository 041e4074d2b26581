"""Row ids of files that hold none: files older than a table's transactions, and files loaded into its directories.

Hive numbers the rows of all such files of one bucket in one directory, in the order of their paths, and stores these
numbers in delete events: so the rules are fixed (``VectorizedOrcAcidRowBatchReader.computeOffsetAndBucket``,
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
    """All files without ACID columns of one directory.

    Attributes:
        files: All that have rows, at any depth.
        directory: Name of the base or delta that they were loaded into; empty for files older than transactions.
        write_id: Write id of their rows; 0 for files older than transactions.
        statement: Statement number of the directory; -1 where its name has none.
        deletes: Delete files that may refer to their rows, by bucket.
    """

    files: tuple[FileInfo, ...]
    directory: str
    write_id: int
    statement: int
    deletes: dict[int, tuple[DeleteFile, ...]]

    def buckets(self) -> dict[int, list[FileInfo]]:
        """The files by bucket, -1 for names without one, each in the order of their paths."""
        by_bucket: dict[int, list[FileInfo]] = {}
        for info in sorted(self.files, key=lambda info: path_order(info.path)):
            by_bucket.setdefault(bucket_of_file(info.name), []).append(info)
        return by_bucket


def path_order(path: str) -> bytes:
    """A key that sorts paths as Java compares ``Path`` objects: quoted, by units of UTF-16."""
    return _QUOTED.sub(lambda found: f"%{ord(found.group()):02X}", path).encode("utf-16-be", "surrogatepass")


def keyed_files(
    groups: Iterable[OriginalFiles], *, row_ids_needed: bool, count_rows: Callable[[str], int]
) -> list[AcidFile]:
    """The files with the row ids of their first rows.

    Rows are counted only in chains of several files that need row ids, each file once, in threads.

    Args:
        groups: Each with all files of its directory: a missing one would shift the others.
        row_ids_needed: Whether row ids are needed where there are no delete events.
        count_rows: Counts the rows of a file, by its path.

    Raises:
        NotSupportedError: Row ids are needed for a file whose name has no bucket.
    """
    chains = [(group, bucket, files) for group in groups for bucket, files in group.buckets().items()]
    keyed = [row_ids_needed or bool(_deletes(group, bucket)) for group, bucket, _ in chains]
    for (group, bucket, files), needed in zip(chains, keyed, strict=True):
        if needed and bucket < 0:
            raise _no_bucket(files[0], group, row_ids_needed)
    counted = [
        info.path
        for (_, _, files), needed in zip(chains, keyed, strict=True)
        if needed and len(files) > 1
        for info in files
    ]
    rows = dict(zip(counted, _count(counted, count_rows), strict=True))
    made = []
    for (group, bucket, files), needed in zip(chains, keyed, strict=True):
        first_row = 0
        for info in files:
            keys = None
            if needed:
                keys = SyntheticKeys(group.write_id, bucket_property(bucket, group.statement, info.path), first_row)
                first_row += rows.get(info.path, 0)
            made.append(_acid_file(info, group, bucket, keys))
    return made


def _acid_file(info: FileInfo, group: OriginalFiles, bucket: int, keys: SyntheticKeys | None) -> AcidFile:
    return AcidFile(
        info.path,
        info.size,
        info.modified_millis,
        bucket,
        group.directory,
        original=True,
        keys=keys,
        deletes=_deletes(group, bucket),
    )


def _deletes(group: OriginalFiles, bucket: int) -> tuple[DeleteFile, ...]:
    if bucket >= 0:
        return group.deletes.get(bucket, ())
    # Any event may refer to a file without a bucket.
    return tuple(one for files in group.deletes.values() for one in files)


def _count(paths: Sequence[str], count_rows: Callable[[str], int]) -> list[int]:
    if len(paths) < 2:
        return [count_rows(path) for path in paths]
    with ThreadPoolExecutor(min(_THREADS, len(paths)), thread_name_prefix="hive-footers") as pool:
        return list(pool.map(count_rows, paths))


def _no_bucket(info: FileInfo, group: OriginalFiles, row_ids_needed: bool) -> NotSupportedError:
    why = "row ids are selected" if row_ids_needed else "rows of the table have been deleted or updated"
    return NotSupportedError(
        f"{info.path} cannot be given row ids, and {why}: its name has no bucket (expected one such as 000000_0 or "
        f"000000_0_copy_1); Hive cannot identify its rows either: rewrite {group.directory or 'the table'}",
        error_codes.HIVE_ACID_LAYOUT,
    )
