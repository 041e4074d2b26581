"""Bootstrapped tables: which original file the rows of a skeleton file are in. Driver side.

A bootstrap of METADATA_ONLY writes base files of the meta columns alone and leaves the rows where they were; row by
row, in order, the two belong together. An index of two HFiles says what belongs to what (HFileBootstrapIndex); real
Hudi reads the one by partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from connector_spi.errors import CorruptFileError, FileMissingError, NotSupportedError
from connectors.hudi.error_codes import HUDI_BAD_HFILE, HUDI_BOOTSTRAP
from connectors.hudi.file_group.slices import DataFile, FileSlice
from connectors.hudi.handles import SourceFile
from connectors.hudi.hfile.reader import HFile
from connectors.hudi.planning.file_slice_plan import FileSlicePlan
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.timeline.avro_record import container_record
from connectors.toolkit.avro.errors import AVRO_ERRORS
from connectors.toolkit.storage.byte_source import FileSource
from connectors.toolkit.storage.filesystem import join_path

__all__ = ["bootstrap_sources"]

# The name is the same in every table: HFileBootstrapIndex.partitionIndexPath.
_INDEX = ".hoodie/.aux/.bootstrap/.partitions/00000000-0000-0000-0000-000000000000-0_1-0-1_00000000000001.hfile"
_BASE_PATH = "hoodie.bootstrap.base.path"

Json = Mapping[str, object]


def bootstrap_sources(snapshot: HudiSnapshot, plan: FileSlicePlan) -> dict[str, SourceFile]:
    """The original files of the skeleton files of a scan, by path of the skeleton.

    Raises:
        NotSupportedError: The table does not name them, or they are not Parquet.
        CorruptFileError: The index is damaged.
    """
    wanted = {
        partition.path: [base for base in map(_skeleton, partition.slices) if base is not None]
        for partition in plan.partitions
    }
    wanted = {path: skeletons for path, skeletons in wanted.items() if skeletons}
    if not wanted:
        return {}
    sample = next(iter(wanted.values()))[0]
    _check_index(snapshot, sample)
    _check_schema(snapshot, sample)
    sources = _read_index(snapshot, wanted)
    return {
        file.path: _source(file, sources.get((path, file.name.file_id)), snapshot)
        for path, skeletons in wanted.items()
        for file in skeletons
    }


def _skeleton(file_slice: FileSlice) -> DataFile | None:
    return file_slice.base if file_slice.is_skeleton else None


def _check_index(snapshot: HudiSnapshot, sample: DataFile) -> None:
    properties = dict(snapshot.config.properties)
    kinds = (
        ("hoodie.bootstrap.index.enable", "true"),
        ("hoodie.bootstrap.index.type", "hfile"),
        ("hoodie.bootstrap.index.class", "org.apache.hudi.common.bootstrap.index.hfile.hfilebootstrapindex"),
    )
    for key, expected in kinds:
        value = properties.get(key, expected).strip()
        # Before 0.15 the class was in the package above.
        if value.lower() not in (expected, expected.replace(".hfile.", ".")):
            raise _refused(sample.path, f"{key} is {value!r}, which is not understood")


def _check_schema(snapshot: HudiSnapshot, sample: DataFile) -> None:
    """Columns that have ids in Hudi have none in files of another writer."""
    try:
        listing = snapshot.files.list(join_path(snapshot.location, ".hoodie/.schema"))
    except FileMissingError:
        return
    if any(info.name.endswith(".schemacommit") for info in listing):
        raise _refused(sample.path, "the table has a schema history (schema on read), of which no answer is known")


def _read_index(snapshot: HudiSnapshot, partitions: Iterable[str]) -> dict[tuple[str, str], SourceFile]:
    """The original files of some partitions, by path of the partition and id of the file group."""
    path = join_path(snapshot.location, _INDEX)
    keys = {f"part={partition}".encode(): partition for partition in partitions}
    try:
        opened = snapshot.files.open(path)
    except FileMissingError as error:
        raise _refused(snapshot.location, f"the bootstrap index {path} is not on storage") from error
    found: dict[tuple[str, str], SourceFile] = {}
    with opened as file:
        index = HFile(FileSource(file), path)
        moved = _Moved(_base_path(index, path), dict(snapshot.config.properties).get(_BASE_PATH))
        for key, value in index.seek(keys):
            statuses = cast("Mapping[str, Json]", _record(value, path).get("fileIdToBootstrapFile") or {})
            for file_id, status in statuses.items():
                found[keys[key], file_id] = _source_file(status, moved, path)
    return found


def _base_path(index: HFile, path: str) -> str | None:
    info = index.file_info.get("INDEX_INFO")
    base_path = _record(info, path).get("bootstrapBasePath") if info is not None else None
    return str(base_path) if base_path else None


def _source_file(status: Json, moved: _Moved, path: str) -> SourceFile:
    where = status.get("path")
    uri = where.get("uri") if isinstance(where, dict) else None
    length = status.get("length")
    if not isinstance(uri, str) or not isinstance(length, int):
        raise CorruptFileError(f"{path} names a file without its path or length: {status!r:.200}", HUDI_BAD_HFILE)
    return SourceFile(moved.path(uri), length)


def _record(data: bytes, path: str) -> Json:
    """The one record of an Avro container file, as which each value of the index is written."""
    try:
        return container_record(data)
    except AVRO_ERRORS as error:
        raise CorruptFileError(
            f"{path} holds a value that is no Avro file of a record ({type(error).__name__}); restore the file",
            HUDI_BAD_HFILE,
        ) from error


class _Moved:
    """Finds original files whose directory was moved after the bootstrap.

    Args:
        written: The directory by the index; its files' paths in there are absolute.
        configured: The directory by the table's properties, which can be corrected.
    """

    def __init__(self, written: str | None, configured: str | None) -> None:
        self._written = _bare(written or "")
        moved = configured and self._written and _bare(configured) != self._written
        self._moved_to = configured.rstrip("/") if configured and moved else None

    def path(self, uri: str) -> str:
        """Where a file of the index is now."""
        bare = _bare(uri)
        if self._moved_to is None or not bare.startswith(f"{self._written}/"):
            return uri
        return join_path(self._moved_to, bare[len(self._written) :])


def _bare(uri: str) -> str:
    """A local path without its scheme, which the two ways of writing it need not share; others stay."""
    path = uri.removeprefix("file:").rstrip("/")
    return f"/{path.lstrip('/')}" if path.startswith("/") else path


def _source(skeleton: DataFile, source: SourceFile | None, snapshot: HudiSnapshot) -> SourceFile:
    if source is None:
        raise _refused(skeleton.path, f"the bootstrap index of {snapshot.location} does not name its original file")
    # BootstrapMetadataHandlerFactory goes by the extension, too; Hive's files often have none.
    if source.path.endswith(".orc") or not skeleton.path.endswith(".parquet"):
        raise _refused(skeleton.path, f"it or its original file {source.path} is of ORC, of which no answer is known")
    return source


def _refused(path: str, reason: str) -> NotSupportedError:
    return NotSupportedError(
        f"{path} of a bootstrapped table holds only the meta columns (METADATA_ONLY), and its rows cannot be found: "
        f"{reason}; rewrite the table, for one by clustering",
        HUDI_BOOTSTRAP,
    )
