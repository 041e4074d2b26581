"""Reading single files of full ACID tables in tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import TupleDomain
from connectors.hive.acid.file import AcidFile, DeleteFile, SyntheticKeys
from connectors.hive.acid.read.acid_file import HIDDEN_NAMES, AcidRead
from connectors.hive.acid.read.page_source import acid_page_source
from connectors.hive.acid.valid_ids import ALL_VALID, ValidIds
from connectors.hive.formats.coercions.rules import ORC_RULES
from connectors.toolkit.read.file_read import BATCH_ROWS, FileRange, FileRead
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["RecordingFiles", "acid_file", "read", "source"]


class RecordingFiles(FileSystem):
    """Remembers what was opened."""

    opened: ClassVar[list[str]] = []

    def open(self, uri: str) -> pa.NativeFile:
        self.opened.append(uri)
        return FileSystem.open(self, uri)


def acid_file(
    path: Path,
    directory: str = "delta_0000001_0000001_0000",
    *,
    check_write_ids: bool = False,
    keys: SyntheticKeys | None = None,
    original: bool = False,
    deletes: Sequence[Path] = (),
    check_deletes: bool = False,
) -> AcidFile:
    """A data file, whole; the test is skipped where it or a delete file is missing."""
    missing = [one for one in (path, *deletes) if not one.exists()]
    if missing:
        pytest.skip(f"no file at {missing[0]}; set CONNECTOR_TEST_TABLES")
    found = tuple(DeleteFile(str(one), one.stat().st_size, 0, 1, 9, 0, check_deletes) for one in deletes)
    size = path.stat().st_size
    return AcidFile(str(path), size, 0, 0, directory, original, check_write_ids, keys, found)


def source(
    file: AcidFile,
    columns: Sequence[ColumnHandle],
    *,
    start: int = 0,
    length: int | None = None,
    visible: ValidIds = ALL_VALID,
    memory: int = 1 << 28,
    predicate: TupleDomain[ColumnHandle] | None = None,
    batch_rows: int = BATCH_ROWS,
) -> PageSource:
    """The rows of a range of a file."""
    names = {column.name: column.name for column in columns}
    asked = FileRead(
        FileRange(file.path, start, file.size if length is None else length),
        tuple(columns),
        synthetic=HIDDEN_NAMES,
        sources=lambda schema: names,
        predicate=TupleDomain.all() if predicate is None else predicate,
        rules=ORC_RULES,
        batch_rows=batch_rows,
        skips_rows=True,
    )
    return acid_page_source(RecordingFiles(), AcidRead(asked, file, visible, memory))


def read(file: AcidFile, columns: Sequence[ColumnHandle], **options: object) -> pa.Table:
    """The rows of a file; ``options`` are those of ``source``."""
    with source(file, columns, **options) as pages:  # type: ignore[arg-type]  # options of ``source``
        return pa.Table.from_batches(list(pages), pages.schema)
