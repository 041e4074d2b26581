"""The tables that real Hive and real Hudi wrote, by DuckDB: the rows that Hive and Hudi answered themselves."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.hive.connector import HiveConnector
from connectors.hudi.connector import HudiConnector
from lakeport.connection import connect
from lakeport.duckdb.session import LocalSession
from tests.connectors.hive.test_whole_corpus import CASES as HIVE
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_session
from tests.connectors.hudi.corpus import HUDI, expected, find_bootstrapped
from tests.connectors.hudi.test_corpus import COW
from tests.connectors.hudi.test_merge_on_read import MOR, NEWER
from tests.hive_corpus import canonical_rows, expected_answer, register_cases, require_corpus, with_null_keys
from tests.paths import CORPUS
from tests.rows import assert_same_table

_HUDI = [
    case
    for case in (*COW, *MOR)
    if case not in NEWER and "_hfilelog_" not in case and not case.endswith("_typedparts_cow")
]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not MOR, reason=f"no tables in {CORPUS}")]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSession]:
    folder = tmp_path_factory.mktemp("catalogs")
    for name in ("hive", "hudi"):
        (folder / f"{name}.properties").write_text(
            f"connector.name={name}\nhive.metastore=embedded\nhive.metastore.embedded.path={folder}/{name}.db\n"
        )
    with connect(catalogs=folder, engine="duckdb") as session:
        hive = session.catalogs.get("hive")
        assert isinstance(hive, HiveConnector)
        require_corpus()
        register_cases(hive.metastore.writes, "s", HIVE, hive.metastore.transactions)
        yield session


@pytest.mark.parametrize("case", HIVE)
def test_tables_of_hive(session: LocalSession, case: str) -> None:
    answer = expected_answer(case)
    found = session.sql(f"SELECT * FROM hive.s.{case}").arrow()
    assert found.schema.names == [name for name, _ in answer.columns]
    assert canonical_rows(found) == with_null_keys(answer.rows)
    assert session.sql(f"SELECT count(*) AS n FROM hive.s.{case}").fetchall() == [(answer.rows.total(),)]


@pytest.mark.parametrize("case", _HUDI)
def test_tables_of_hudi(session: LocalSession, case: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(HUDI / f"{case}.zip") as packed:
        packed.extractall(tmp_path)
    [table] = [path for path in tmp_path.iterdir() if path.is_dir() and (path / ".hoodie").is_dir()]
    find_bootstrapped(table)
    connector = session.catalogs.get("hudi")
    assert isinstance(connector, HudiConnector)
    HudiCatalog(connector, make_session(connector)).register(table, case)
    answer = expected(case, "snapshot")
    assert_same_table(session.sql(f"SELECT * FROM hudi.s.{case}").arrow(), answer)
    assert session.sql(f"SELECT count(*) AS n FROM hudi.s.{case}").fetchall() == [(answer.num_rows,)]
