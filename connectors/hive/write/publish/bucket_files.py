"""The files of buckets: their names, those without rows, and one alone where readers want one. Driver side."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import pyarrow as pa
from pyarrow import orc

from connector_spi.errors import StorageError
from connectors.hive.buckets.layout import file_buckets
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.hive.write.publish.moved_files import MovedFiles
from connectors.hive.write.sink.file_writers import FileWriter, TaskFiles
from connectors.hive.write.sink.nested_nulls import with_null_fields
from connectors.toolkit.storage.filesystem import FileSystem, join_path, storage_errors

__all__ = ["empty_buckets", "free_targets", "move_fragments", "one_file_per_bucket"]


def free_targets(files: FileSystem, location: str, fragments: Iterable[HiveFragment]) -> list[tuple[str, str]]:
    """Each file of a plain table and where it goes, as ``move_fragments`` would if no one else writes meanwhile.

    Args:
        files: Storage.
        location: The partition's directory.
        fragments: The files.
    """
    there = {one.name for one in files.list(location)} if files.exists(location) else set()
    moves = []
    for fragment in fragments:
        name = _own_name(fragment, files, location)
        if name is None:
            copies = (_copy_name(fragment.name, copy) for copy in itertools.count())
            name = next(copy for copy in copies if copy not in there)
            there.add(name)
        moves.append((fragment.path, join_path(location, name)))
    return moves


def move_fragments(
    moved: MovedFiles, files: FileSystem, locations: Iterable[tuple[str, Sequence[HiveFragment]]]
) -> None:
    """Moves the files of a plain table to the directories of their partitions.

    Files of buckets are named as by Hive, ``000001_0`` and then ``000001_0_copy_1`` (``Hive.mvFile``): the bucket is
    known by the name alone. In object stores, where a name that is free may be taken in the next moment, each name is
    of one file alone: ``000001_0.`` and 32 digits.

    Args:
        moved: The block of moves.
        files: Storage.
        locations: The directories, and the files that go to each.

    Raises:
        StorageError: Storage refused.
    """
    own, others = [], []
    for location, fragments in locations:
        names = [(one, _own_name(one, files, location)) for one in fragments]
        own += [(one.path, join_path(location, name)) for one, name in names if name is not None]
        others.append((location, [one for one, name in names if name is None]))
    moved.move_all(own)
    for location, fragments in others:
        there = {one.name for one in files.list(location)} if fragments and files.exists(location) else set()
        for fragment in fragments:
            _move_to_free(moved, files, location, fragment, there)


def empty_buckets(
    files: FileSystem,
    insert: HiveInsertHandle,
    partition: tuple[str, ...],
    fragments: Iterable[HiveFragment],
    kept: str | None = None,
) -> list[HiveFragment]:
    """Files without rows for the buckets of a partition that have none: Hive on MapReduce wants one for each.

    Args:
        files: Storage.
        insert: The statement.
        partition: Texts of the partition's key values.
        fragments: What was written to it.
        kept: Directory of the partition, where its files stay.

    Raises:
        StorageError: Storage refused.
    """
    if insert.buckets is None or not insert.buckets.filled:
        return []
    bucketing = insert.buckets.bucketing
    paths = [one.path for one in files.list(kept)] if kept is not None and files.exists(kept) else []
    filled = {*file_buckets(paths, bucketing.count, bucketing.version), *(one.bucket for one in fragments)}
    made = []
    for bucket in range(bucketing.count):
        if bucket not in filled:
            path = join_path(insert.staging, f"{uuid.uuid4().hex}.{insert.storage.format}")
            size = _write(files, insert, path, bucket, ())
            name = TaskFiles(insert, 0).target("", bucket)
            made.append(HiveFragment(path, name, partition, 0, size, bucket=bucket))
    return made


def one_file_per_bucket(
    files: FileSystem, insert: HiveInsertHandle, fragments: Sequence[HiveFragment]
) -> list[HiveFragment]:
    """The files of a transactional table with one for each bucket of a partition, as readers and row ids want it.

    An engine that does as the table's layout says gives no two. Where several tasks have written rows of a bucket,
    those are put together here, stripe by stripe. Tables without row ids may have several files.

    Raises:
        StorageError: Storage refused.
    """
    assert insert.acid is not None, "of a transactional table"
    found: dict[object, list[HiveFragment]] = {}
    for number, fragment in enumerate(fragments):
        alone = fragment.bucket is None
        found.setdefault(number if alone else (fragment.partition, fragment.bucket), []).append(fragment)
    if insert.acid.row_ids:
        return [some[0] if len(some) == 1 else _joined(files, insert, some) for some in found.values()]
    return [replace(one, name=_copy_name(one.name, copy)) for some in found.values() for copy, one in enumerate(some)]


def _own_name(fragment: HiveFragment, files: FileSystem, location: str) -> str | None:
    """A name that no other file can have; ``None`` where it has to be looked for.

    Files that are loaded into an object store have such names already.
    """
    if fragment.bucket is None:
        return None if fragment.original and files.has_folders(location) else fragment.name
    if files.has_folders(location):
        return None
    stem, dot, extension = fragment.name.partition(".")
    return f"{stem}.{uuid.uuid4().hex}{dot}{extension}"


def _copy_name(name: str, copy: int) -> str:
    """The name of a copy, as ``Hive.mvFile`` has it; the first is none."""
    stem, dot, extension = name.partition(".")
    return f"{stem}_copy_{copy}{dot}{extension}" if copy else name


def _move_to_free(
    moved: MovedFiles, files: FileSystem, location: str, fragment: HiveFragment, there: Collection[str]
) -> None:
    for copy in itertools.count():
        name = _copy_name(fragment.name, copy)
        target = join_path(location, name)
        if name in there:
            continue
        try:
            moved.move(fragment.path, target)
        except StorageError:
            # Another writer may have taken the name since.
            if not files.exists(target):
                raise
        else:
            return


def _joined(files: FileSystem, insert: HiveInsertHandle, fragments: Sequence[HiveFragment]) -> HiveFragment:
    first = fragments[0]
    path = join_path(insert.staging, f"{uuid.uuid4().hex}.{insert.storage.format}")
    size = _write(files, insert, path, first.bucket, [one.path for one in fragments])
    return replace(first, path=path, rows=sum(one.rows for one in fragments), size=size)


def _write(files: FileSystem, insert: HiveInsertHandle, path: str, bucket: int | None, sources: Sequence[str]) -> int:
    with storage_errors(path, "write"), files.create(path) as sink:
        writer = TaskFiles(insert, 0).open(sink, path, bucket)
        for source in sources:
            _copy_rows(files, insert, source, writer)
        writer.close()
    info = files.info(path)
    return 0 if info is None else info.size


def _copy_rows(files: FileSystem, insert: HiveInsertHandle, path: str, writer: FileWriter) -> None:
    schema = pa.schema([(column.name, column.type) for column in insert.data_columns])
    with storage_errors(path, "read"), files.open(path) as source:
        file = orc.ORCFile(source)
        for stripe in range(file.nstripes):
            row = file.read_stripe(stripe, columns=["row"]).column(0)
            columns = [
                with_null_fields(column.cast(field.type)) for column, field in zip(row.flatten(), schema, strict=True)
            ]
            writer.write(pa.Table.from_arrays(columns, schema=schema))
