"""Tables of which one file at a time is damaged: each format that real Hive and Hudi wrote; unions; old maps; LZO."""

from __future__ import annotations

import os
import random
import shutil
import zipfile
from abc import ABC, abstractmethod
from pathlib import Path

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from tests.connectors.hive.formats.codec_tables import CODEC_CLASSES, make_codec_table
from tests.connectors.hive.formats.unions.union_tables import UNION_KINDS, make_union_table
from tests.connectors.hive.reading import make_connector, make_session, read_table, scan_table
from tests.connectors.hive.table_writer import storage
from tests.connectors.hudi.catalog_helper import make_catalog
from tests.fuzz.mutations import mutate
from tests.hive_corpus import PLAIN_CASES, TEXT_CASES, register_cases
from tests.paths import CORPUS, PROJECT

__all__ = ["CASES", "FuzzedTable", "open_table"]

_BINARY = (
    "avro_alltypes",
    "ext_avro",
    "ext_avro_schema_evolved",
    "ext_rcfile_binary",
    "ext_rcfile_text",
    "ext_seq",
    "ext_seq_lazybinary",
    "ext_seq_record",
)
_ACID = ("acid_alltypes", "acid_major", "acid_part_types")
_HUDI = (
    "v6_alltypes_mor",
    "v6_orc_insert_cow",
    "v6_parquetlog_mor",
    "v8_hfilelog_mor",
    "v9_alltypes_mor",
    "v9_basic_cow",
    "v9_hfilelog_mor",
    "v9_mdt_all_mor",
    "v9_mixedlog_mor",
    "v9_partialupdate_mor",
    "v9_recordpositions_mor",
)
# Twice, since each of them holds files of several formats.
CASES: tuple[str, ...] = (
    *(f"hive/{case}" for case in (*PLAIN_CASES, *TEXT_CASES, *_BINARY, *_BINARY, *_ACID)),
    *(f"hudi/{case}" for case in (*_HUDI, *_HUDI)),
    *(f"unions/{kind}" for kind in UNION_KINDS),
    "maps/parquet",
    *(f"codecs/{extension}" for extension in CODEC_CLASSES),
)
"""In the order in which they take turns."""


class FuzzedTable(ABC):
    """A table in a folder of its own.

    Args:
        folder: The table's files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size > 0)
        for path in self._files:
            path.chmod(0o644)
            path.parent.chmod(0o755)

    def read_damaged(self, seed: str) -> tuple[str, int]:
        """Reads the table with one file damaged, which is sound again afterwards.

        Returns:
            The file, and the rows.

        Raises:
            ConnectorError: The damage was found.
        """
        choice = random.Random(seed)
        path = choice.choice(self._files)
        sound = path.read_bytes()
        try:
            path.write_bytes(mutate(sound, seed))
            return str(path.relative_to(self._folder)), self.rows()
        finally:
            path.write_bytes(sound)

    def damaged_file(self, seed: str) -> str:
        """The file that a seed damages."""
        return str(random.Random(seed).choice(self._files).relative_to(self._folder))

    @abstractmethod
    def rows(self) -> int:
        """How many rows the table has."""

    @abstractmethod
    def close(self) -> None:
        """Gives up what it holds."""


class _HiveTable(FuzzedTable):
    def __init__(self, case: str, folder: Path) -> None:
        shutil.copytree(CORPUS / "hive" / case, folder / case, copy_function=shutil.copyfile)
        for path, _, _ in os.walk(folder / case):
            Path(path).chmod(0o755)
        super().__init__(folder / case / "table")
        self._case = case
        self._connector = make_connector(folder)
        metastore = self._connector.metastore
        register_cases(metastore.writes, "s", [case], metastore.transactions, folder)

    def rows(self) -> int:
        return int(read_table(self._connector, "s", self._case).num_rows)

    def close(self) -> None:
        self._connector.shutdown()


class _UnionTable(FuzzedTable):
    def __init__(self, kind: str, folder: Path) -> None:
        self._kind = kind
        self._connector = make_connector(folder)
        super().__init__(make_union_table(self._connector, folder, kind))

    def rows(self) -> int:
        return int(read_table(self._connector, "s", self._kind).num_rows)

    def close(self) -> None:
        self._connector.shutdown()


class _MapTable(FuzzedTable):
    """Maps whose keys are not marked as required, for which the footer is read in Python."""

    def __init__(self, kind: str, folder: Path) -> None:
        (folder / kind).mkdir()
        path = PROJECT / "tests" / "connectors" / "toolkit" / "parquet" / "parquet_maps" / "optional.parquet"
        shutil.copyfile(path, folder / kind / "f")
        super().__init__(folder / kind)
        self._connector = make_connector(folder)
        columns = [FieldSchema("a", "map<string,int>"), FieldSchema("c", "array<map<string,map<string,int>>>")]
        self._connector.metastore.writes.create_database(Database("s"))
        entry = Table("s", "t", storage(columns, folder / kind, kind), (), Parameters(), "EXTERNAL_TABLE")
        self._connector.metastore.writes.create_table(entry)

    def rows(self) -> int:
        return int(read_table(self._connector, "s", "t").num_rows)

    def close(self) -> None:
        self._connector.shutdown()


class _CodecTable(FuzzedTable):
    """Files of LZO, and one of bzip2 that is read block by block."""

    def __init__(self, extension: str, folder: Path) -> None:
        self._connector = make_connector(folder)
        super().__init__(make_codec_table(self._connector, folder, extension))

    def rows(self) -> int:
        session = make_session(self._connector, max_split_size=30_000)
        return int(scan_table(self._connector, "s", "t", session=session).rows.num_rows)

    def close(self) -> None:
        self._connector.shutdown()


class _HudiTable(FuzzedTable):
    def __init__(self, case: str, folder: Path) -> None:
        with zipfile.ZipFile(CORPUS / "hudi" / f"{case}.zip") as packed:
            packed.extractall(folder / "files")
        [table] = [path.parent for path in (folder / "files").glob("*/.hoodie")]
        super().__init__(table)
        self._catalog = make_catalog(folder)
        self._catalog.register(table)

    def rows(self) -> int:
        return int(self._catalog.read().num_rows)

    def close(self) -> None:
        self._catalog.connector.shutdown()


def open_table(case: str, folder: Path) -> FuzzedTable:
    """Makes a copy of one of ``CASES`` in an empty folder."""
    kind, _, name = case.partition("/")
    made: dict[str, type[_HiveTable | _HudiTable | _UnionTable | _MapTable | _CodecTable]] = {
        "hive": _HiveTable,
        "hudi": _HudiTable,
        "unions": _UnionTable,
        "maps": _MapTable,
        "codecs": _CodecTable,
    }
    return made[kind](name, folder)
