"""Reads of whole files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import ConnectorExpression, TupleDomain
from connectors.toolkit.read.file_read import BATCH_ROWS, FileRange, FileRead
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["Reader", "whole_file"]

Reader: TypeAlias = Callable[[FileSystem, FileRead], PageSource]


def whole_file(
    path: Path,
    columns: tuple[ColumnHandle, ...],
    predicate: TupleDomain[ColumnHandle] | None = None,
    *,
    batch_rows: int = BATCH_ROWS,
    skips_rows: bool = False,
    conditions: tuple[ConnectorExpression, ...] = (),
) -> FileRead:
    """The read of all of a file."""
    return FileRead(
        FileRange(str(path), 0, path.stat().st_size or 1),
        columns,
        predicate=TupleDomain.all() if predicate is None else predicate,
        batch_rows=batch_rows,
        skips_rows=skips_rows,
        conditions=conditions,
    )
