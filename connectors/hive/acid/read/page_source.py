"""Rows of a range of a data file of a full ACID table, without those deleted or not visible. Executor side.

Stripes that a predicate rules out are skipped: a newer version of a row is a row of its own, and row ids are those of
the file, or are counted with the stripes skipped. ACID columns are read only where they are shown, or where footers do
not tell that no delete is of the stripe and that all of it is visible; of a stripe of one write id and bucket property
the row ids alone. Where nothing is read at all, rows are counted by the footer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from connector_spi.scan_counters import count
from connectors.hive.acid.read.acid_file import AcidRead, OpenAcidFile, open_acid_file
from connectors.hive.acid.read.deletes import find_deletes
from connectors.hive.acid.valid_ids import ValidIds
from connectors.toolkit.orc.reader import orc_errors
from connectors.toolkit.read.page_source import FilePageSource
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.read.stages import Rows, Stage, adapt, mask, project, prune
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["acid_page_source", "load_deletes"]

_LEFT_OUT = "rows left out as deleted or not visible"


def acid_page_source(files: FileSystem, asked: AcidRead) -> FilePageSource[OpenAcidFile]:
    """Reads the stripes of one range."""
    return FilePageSource(asked.read, partial(open_acid_file, files, asked), _STAGES, orc_errors)


def load_deletes(file: OpenAcidFile, rows: Iterator[FileRows], visible: ValidIds) -> Rows:
    """Looks for the deletes of the stripes that are left, those of visible write ids."""
    parts = list(rows)
    if parts and file.asked.acid.deletes:
        found = find_deletes(file.files, file.asked.acid.deletes, visible, file.asked.delete_memory)
        file.keys.deletes = None if found is None else found.within(file.keys.range(parts[0].part, parts[-1].part))
    yield from parts


def _load_deletes(file: OpenAcidFile, rows: Iterator[FileRows]) -> Rows:
    """Looks for the deletes of the stripes that are left."""
    yield from load_deletes(file, rows, file.asked.visible)


def _decode_with_keys(file: OpenAcidFile, rows: Iterator[FileRows]) -> Rows:
    """Decodes columns and row keys at once, and marks the rows that a reader sees."""
    for part in rows:
        yield from _with_keys(file, part)


def _with_keys(file: OpenAcidFile, part: FileRows) -> Iterator[FileRows]:
    if file.keys.sees_none(part.part):
        count(_LEFT_OUT, part.count)
        return
    asked = file.keys.columns(part.part)
    if file.asked.acid.deletes and not asked:
        count("stripes that no delete touches")
    stripe = file.columns.read(part.part, asked)
    known = file.keys.of_stripe(part.part, stripe.extra)
    kept = None
    if known.dropped is not None:
        count(_LEFT_OUT, int(np.count_nonzero(known.dropped)))
        if known.dropped.all():
            return
        kept = pa.array(~known.dropped)
    arrays = {**stripe.columns, **file.hidden_arrays(known)}
    yield FileRows(part.part, part.start, part.count, arrays, kept)


_STAGES: tuple[Stage[OpenAcidFile], ...] = (prune, _load_deletes, _decode_with_keys, adapt, mask, project)
