"""Rows of a range of a data file of a full ACID table, without those deleted or not visible. Executor side.

Stripes that a predicate rules out are skipped: a newer version of a row is a row of its own, and row ids are those of
the file, or are counted with the stripes skipped. ACID columns are read only where they are shown, or where footers do
not tell that no delete is of the stripe and that all of it is visible; of a stripe of one write id and bucket property
the row ids alone. They come with the columns of the predicate, and the other columns are decoded for the rows that
pass and that a reader sees. Where nothing is read at all, rows are counted by the footer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from connectors.hive.acid.read.acid_file import AcidRead, OpenAcidFile, open_acid_file
from connectors.hive.acid.read.deletes import find_deletes
from connectors.hive.acid.valid_ids import ValidIds
from connectors.toolkit.orc.reader import orc_errors
from connectors.toolkit.read.late_materialization import decode_late
from connectors.toolkit.read.page_source import FilePageSource
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.read.stages import Rows, Stage, project, prune
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["acid_page_source", "load_deletes"]


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


_STAGES: tuple[Stage[OpenAcidFile], ...] = (prune, _load_deletes, decode_late, project)
