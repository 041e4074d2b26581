"""Tables of real Hive and real Hudi on a storage that is not local, as catalogs see them."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import cast

import pyarrow as pa

from connectors.hive.connector import HiveConnector
from lakeport import Session
from lakeport.duckdb.result import LocalResult
from lakeport.duckdb.session import duckdb_engine
from lakeport.engine import Engine
from lakeport.sql.explain.request import ExplainRequest
from tests.connectors.hudi.corpus import HUDI, expected
from tests.hive_corpus import canonical_rows, expected_answer, register_cases, require_corpus, with_null_keys
from tests.rows import assert_same_table

__all__ = [
    "HIVE_CASES",
    "HUDI_CASES",
    "check_duckdbs_reader",
    "check_hive",
    "check_hudi",
    "local_tables",
    "register_tables",
    "write_catalogs",
]

HIVE_CASES = ("ext_orc_none_part", "ext_parquet_snappy", "ext_text_gz", "ext_seq", "acid_part_special", "evolve_acid")
"""Folders with escapes, each kind of reader, deltas and their deletes."""
HUDI_CASES = ("v9_basic_mor",)


def local_tables(folder: Path) -> None:
    """Puts the cases into ``folder/hive`` and ``folder/hudi``, to be copied from there."""
    for case in HIVE_CASES:
        shutil.copytree(require_corpus() / case / "table", folder / "hive" / case / "table")
    for case in HUDI_CASES:
        with zipfile.ZipFile(HUDI / f"{case}.zip") as packed:
            packed.extractall(folder / "hudi" / case)


def write_catalogs(folder: Path, catalogs: Mapping[str, tuple[str, Mapping[str, str]]]) -> Path:
    """Writes properties of catalogs over one embedded metastore: connector and settings of storage by name."""
    made = folder / "catalogs"
    made.mkdir()
    for name, (connector, properties) in catalogs.items():
        given = {
            "connector.name": connector,
            "hive.metastore": "embedded",
            "hive.metastore.embedded.path": str(folder / "metastore.db"),
            **properties,
        }
        (made / f"{name}.properties").write_text("".join(f"{key}={text}\n" for key, text in given.items()))
    return made


def register_tables(session: Session, folder: Path, place: str) -> None:
    """Registers what ``local_tables`` made, and what was copied to ``place``, as ``s.case`` by the catalog ``own``,
    and Hudi's by the catalog ``hudi``."""
    metastore = cast(HiveConnector, session.catalogs.get("own")).metastore
    register_cases(metastore.writes, "s", HIVE_CASES, metastore.transactions, place=f"{place}/hive")
    for case in HUDI_CASES:
        [table] = [path.parent for path in (folder / "hudi" / case).glob("*/.hoodie")]
        names = f"'h', '{case}', '{place}/hudi/{case}/{table.name}'"
        session.sql(f"CALL hudi.system.register_table({names})")


def check_hive(session: Session, catalog: str, case: str, engines: Sequence[str] = ("arrow", "spark")) -> None:
    """Compares a table with Hive's answer."""
    answer = with_null_keys(expected_answer(case).rows)
    name = f"{catalog}.s.{case}"
    if "arrow" in engines:
        assert canonical_rows(session.arrow(name).read_all()) == answer
    if "spark" in engines:
        assert canonical_rows(session.sql(f"SELECT * FROM {name}").toArrow()) == answer


def check_hudi(session: Session, case: str) -> None:
    """Compares a table with Hudi's answer."""
    answer = expected(case, "snapshot")
    rows = session.arrow(f"hudi.h.{case}").read_all()
    assert_same_table(rows.select(answer.column_names), answer)
    rows = session.sql(f"SELECT * FROM hudi.h.{case}").toArrow()
    assert_same_table(rows.select(answer.column_names), answer)


def check_duckdbs_reader(session: Session, catalog: str) -> None:
    """Compares what DuckDB reads itself through the connectors with Hive's and Hudi's answers."""
    with closing(duckdb_engine(session.catalogs)) as engine:
        name = f"{catalog}.s.ext_parquet_snappy"
        answer = with_null_keys(expected_answer("ext_parquet_snappy").rows)
        rows = engine.plan(f"SELECT * FROM {name}").arrow()
        assert canonical_rows(rows) == answer
        _check_native(engine, f"SELECT id, s FROM {name}", rows.select(["id", "s"]))
        [case] = HUDI_CASES
        answer = expected(case, "snapshot")
        texts = [field.name for field in answer.schema if pa.types.is_string(field.type)]
        _check_native(engine, f"SELECT {', '.join(texts)} FROM hudi.h.{case}", answer.select(texts))


def _check_native(engine: Engine[LocalResult], query: str, rows: pa.Table) -> None:
    [(plan,)] = engine.explain(ExplainRequest(query)).fetchall()
    assert "reader: native (DuckDB)" in str(plan)
    assert_same_table(engine.plan(query).arrow(), rows)
