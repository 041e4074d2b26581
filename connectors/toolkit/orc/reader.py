"""Ranges of ORC files as record batches. Executor side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pyarrow as pa
import pyorc
from pyarrow import orc

from connectors.toolkit.orc.file import OrcFile, open_orc
from connectors.toolkit.orc.footer import read_orc_footer
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.read.late_materialization import decode_late
from connectors.toolkit.read.page_source import FilePageSource
from connectors.toolkit.read.stages import Stage, adapt, decode, project, prune
from connectors.toolkit.storage.decoding_errors import decoding_errors, library_limits
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["orc_errors", "orc_page_source", "read_orc_schema"]

_STAGES: tuple[Stage[OrcFile], ...] = (prune, decode, adapt, project)
_SKIPPING_STAGES: tuple[Stage[OrcFile], ...] = (prune, decode_late, project)


def orc_page_source(files: FileSystem, read: FileRead) -> FilePageSource[OrcFile]:
    """Reads the stripes of one range of an ORC file."""
    stages = _SKIPPING_STAGES if read.skips_rows else _STAGES
    return FilePageSource(read, partial(open_orc, files, read), stages, orc_errors)


def read_orc_schema(files: FileSystem, path: str) -> pa.Schema:
    """The Arrow schema of a file.

    Raises:
        CorruptFileError: It is truncated, or no ORC file.
    """
    with files.open(path) as source, orc_errors(path), library_limits(path, "ORC"):
        read_orc_footer(source, path)
        schema = orc.ORCFile(source).schema.remove_metadata()
        # Names are decoded when they are asked, which may fail.
        fields = list(schema)
        for field in fields:
            if field.name:
                fields += [field.type.field(at) for at in range(field.type.num_fields)]
        return schema


@contextmanager
def orc_errors(path: str) -> Iterator[None]:
    """Maps what pyarrow and pyorc raise about a file; see ``decoding_errors``."""
    with decoding_errors(path, "ORC", UnicodeDecodeError, pyorc.ParseError):
        yield
