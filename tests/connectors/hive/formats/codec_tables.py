"""Tables whose files hold ``n|value n``: those of ``lzo_files``, and a file of several streams of bzip2."""

from __future__ import annotations

import bz2
import random
from collections.abc import Mapping
from pathlib import Path
from shutil import copyfile

from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.table_writer import ORC_CLASSES

__all__ = ["CODEC_CLASSES", "COLUMNS", "LAZY_SIMPLE", "LZO_FILES", "TEXT_INPUT", "make_codec_table", "make_table"]

LZO_FILES = Path(__file__).with_name("lzo_files")
TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
LAZY_SIMPLE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
COLUMNS = {"a": "int", "b": "string"}
CODEC_CLASSES = {
    "bz2": (TEXT_INPUT, LAZY_SIMPLE),
    "lzo": (TEXT_INPUT, LAZY_SIMPLE),
    "lzo_deflate": (TEXT_INPUT, LAZY_SIMPLE),
    "seq": ("org.apache.hadoop.mapred.SequenceFileInputFormat", LAZY_SIMPLE),
    "rc": ("org.apache.hadoop.hive.ql.io.RCFileInputFormat", "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"),
    "orc": (ORC_CLASSES[0], ORC_CLASSES[2]),
}
"""Input format and SerDe by the extension of a file."""


def make_codec_table(connector: HiveConnector, folder: Path, extension: str) -> Path:
    """Makes ``s.t`` of all sound files with an extension, and gives its folder."""
    # No reader reads what LzopCodec leaves in a SequenceFile.
    sound = [path for path in LZO_FILES.glob(f"*.{extension}") if "_lzop" not in path.name]
    files: dict[str, bytes | Path] = {path.name: path for path in sound}
    if extension == "bz2":
        lines = [b"%d|%s\n" % (at, random.Random(at).randbytes(20).hex().encode()) for at in range(8_000)]
        files = {"f.bz2": b"".join(bz2.compress(b"".join(lines[at : at + 3_000]), 1) for at in (0, 3_000, 6_000))}
    make_table(connector, folder / "t", files, *CODEC_CLASSES[extension])
    return folder / "t"


def make_table(
    connector: HiveConnector,
    folder: Path,
    files: Mapping[str, bytes | Path],
    input_format: str,
    serde: str,
    columns: Mapping[str, str] = COLUMNS,
) -> None:
    """Makes ``s.t`` of files, by their bytes or copied from elsewhere."""
    folder.mkdir()
    for name, content in files.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            copyfile(content, folder / name)
    connector.metastore.writes.create_database(Database("s"))
    storage = StorageDescriptor(
        tuple(FieldSchema(name, kind) for name, kind in columns.items()),
        f"file://{folder}",
        input_format,
        serde=SerDeInfo(serde, Parameters.of({"field.delim": "|"})),
    )
    connector.metastore.writes.create_table(Table("s", "t", storage, (), Parameters(), "EXTERNAL_TABLE"))
