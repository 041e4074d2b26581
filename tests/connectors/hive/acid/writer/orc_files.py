"""ORC files as Hive's ACID writer makes them, and flat ones as its plain writer does."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import pyorc

from tests.connectors.hive.acid.writer.names import RowKey
from tests.connectors.hive.acid.writer.orc_footer import with_footer

__all__ = [
    "DELETE",
    "INSERT",
    "Event",
    "OrcLayout",
    "Row",
    "acid_schema",
    "deletes",
    "inserts",
    "write_acid_file",
    "write_flat_file",
    "write_streaming_file",
]

Row = tuple[object, ...]
_T = TypeVar("_T")
KeyIndex = Literal["right", "absent", "empty", "short", "long", "garbled"]

INSERT, DELETE = 0, 2


class Event(NamedTuple):
    """A line of an ACID file.

    Attributes:
        key: Of the row that is inserted, or of the one that is deleted.
        current: Write id of the transaction that did it.
        row: The values; ``None`` in an event of deletion.
    """

    key: RowKey
    current: int
    row: Row | None

    @property
    def operation(self) -> int:
        """Hive's number of the operation."""
        return DELETE if self.row is None else INSERT


@dataclass(frozen=True, slots=True)
class OrcLayout:
    """How files are cut and what their footers say.

    Attributes:
        stripe_rows: Rows of a stripe; ``None`` for one stripe.
        stride: Rows of a row group; 0 writes no row index, as the minor compaction of Hive 3 does.
        key_index: ``hive.acid.key.index``: right, not there, or of a kind that readers must not use.
        query_compacted: Lower-case names and no metadata, as compaction by query leaves them.
        compression: Of the stripes and the footer.
    """

    stripe_rows: int | None = None
    stride: int = 10_000
    key_index: KeyIndex = "right"
    query_compacted: bool = False
    compression: pyorc.CompressionKind = pyorc.CompressionKind.ZLIB


def acid_schema(fields: str, lower_case: bool = False) -> str:
    """The schema of an ACID file whose rows have ``fields``, such as ``id:int,name:string``."""
    head = "operation:int,originalTransaction:bigint,bucket:int,rowId:bigint,currentTransaction:bigint"
    return f"struct<{head.lower() if lower_case else head},row:struct<{fields}>>"


def inserts(keys: Sequence[RowKey], rows: Sequence[Row]) -> list[Event]:
    """The events of inserted rows."""
    return [Event(key, key.write_id, row) for key, row in zip(keys, rows, strict=True)]


def deletes(keys: Iterable[RowKey], write_id: int) -> list[Event]:
    """The events of deleted rows."""
    return [Event(key, write_id, None) for key in keys]


def write_acid_file(path: Path, fields: str, events: Iterable[Event], layout: OrcLayout | None = None) -> None:
    """Writes events, in the order that Hive keeps: by key, the latest transaction first.

    Args:
        path: The file; its folder is made.
        fields: Fields of the rows, such as ``id:int,name:string``.
        events: Inserts, or deletes.
        layout: How.
    """
    layout = layout or OrcLayout()
    ordered = sorted(events, key=lambda event: (event.key, -event.current))
    schema = acid_schema(fields, layout.query_compacted)
    stripes = _stripes(ordered, layout.stripe_rows)
    metadata = {} if layout.query_compacted else _metadata(stripes, layout.key_index)
    _write(path, schema, [[_line(event) for event in stripe] for stripe in stripes], layout, metadata)


def write_flat_file(path: Path, fields: str, rows: Sequence[Row], layout: OrcLayout | None = None) -> None:
    """Writes rows with no key: what a plain table's writer leaves, and LOAD DATA takes."""
    layout = layout or OrcLayout()
    _write(path, f"struct<{fields}>", _stripes(rows, layout.stripe_rows), layout, {})


def write_streaming_file(
    path: Path, fields: str, flushes: Sequence[Sequence[Event]], unflushed: Sequence[Event] = (), closed: bool = True
) -> None:
    """Writes a file as streaming ingest does: a footer after each transaction, its end in a side file until closed.

    Args:
        path: The file.
        fields: Fields of the rows.
        flushes: What each transaction wrote, by ascending write id.
        unflushed: What was written after the last flush: no reader may see it. Only where the file is not closed.
        closed: Whether the writer ended well; its side file is then gone.
    """
    assert not (closed and unflushed)
    path.parent.mkdir(parents=True, exist_ok=True)
    lengths, written = [0], 0
    with path.open("wb") as file:
        writer = pyorc.Writer(file, acid_schema(fields), batch_size=1)
        for events in flushes:
            writer.writerows(map(_line, events))
            # No footer comes before the first row.
            written += len(events)
            lengths.append(writer.write_intermediate_footer() if written else 0)
        writer.writerows(map(_line, unflushed))
        writer.close()
    content = path.read_bytes()
    metadata = _metadata([list(events) for events in flushes if events], "right")
    if closed:
        path.write_bytes(with_footer(content, metadata))
        return
    flushed, rest = content[: lengths[-1]], content[lengths[-1] :]
    if flushed:
        flushed = with_footer(flushed, metadata)
        lengths = [len(flushed) if length == lengths[-1] else length for length in lengths]
    # The writer died in the middle of what comes after the last flush.
    path.write_bytes(flushed + rest[: len(rest) // 2] if unflushed else flushed)
    side = path.with_name(f"{path.name}_flush_length")
    side.write_bytes(b"".join(struct.pack(">q", length) for length in lengths))


def _write(
    path: Path, schema: str, stripes: Sequence[Sequence[Row]], layout: OrcLayout, metadata: dict[str, bytes]
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        # Rows wait in a batch, which the footer between two stripes does not write out.
        writer = pyorc.Writer(
            file, schema, batch_size=1, row_index_stride=layout.stride, compression=layout.compression
        )
        for number, stripe in enumerate(stripes):
            if number:
                writer.write_intermediate_footer()
            writer.writerows(stripe)
        writer.close()
    path.write_bytes(with_footer(path.read_bytes(), metadata))


def _line(event: Event) -> Row:
    return (event.operation, *event.key, event.current, event.row)


def _stripes(lines: Iterable[_T], rows: int | None) -> list[list[_T]]:
    pending = iter(lines)
    if rows is None:
        whole = list(pending)
        return [whole] if whole else []
    stripes = []
    while stripe := list(islice(pending, rows)):
        stripes.append(stripe)
    return stripes


def _metadata(stripes: Sequence[Sequence[Event]], key_index: KeyIndex) -> dict[str, bytes]:
    """What Hive's ``OrcRecordUpdater`` puts into the footer; the index has the last key of each stripe."""
    events = [event for stripe in stripes for event in stripe]
    deleted = sum(event.row is None for event in events)
    entries = ["{},{},{};".format(*stripe[-1].key) for stripe in stripes]
    index = {
        "right": entries,
        "absent": entries,
        "empty": [],
        "short": entries[:-1],
        "long": [*entries, *entries[-1:]],
        "garbled": ["not,a;key" for _ in entries],
    }[key_index]
    metadata = {
        "hive.acid.key.index": "".join(index).encode(),
        "hive.acid.stats": f"{len(events) - deleted},0,{deleted}".encode(),
        "hive.acid.version": b"2",
    }
    if key_index == "absent":
        del metadata["hive.acid.key.index"]
    return metadata
