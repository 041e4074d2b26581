"""Merge-on-read tables of real Hudi through ``session.arrow``, with no Spark."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.hudi.connector import HudiConnector
from lakeport.session import Session, connect
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_session
from tests.connectors.hudi.corpus import HUDI, expected, find_bootstrapped
from tests.connectors.hudi.rows import assert_same_table
from tests.connectors.hudi.test_merge_on_read import MOR, NEWER
from tests.paths import CORPUS

READ = [case for case in MOR if case not in NEWER and "_hfilelog_" not in case]

pytestmark = pytest.mark.skipif(not MOR, reason=f"no tables in {CORPUS}")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("catalogs")
    (folder / "hudi.properties").write_text(
        f"connector.name=hudi\nhive.metastore=embedded\nhive.metastore.embedded.path={folder}/metastore.db\n"
    )
    with connect(catalogs=folder) as session:
        yield session


@pytest.mark.parametrize("case", READ)
def test_snapshot(session: Session, case: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(HUDI / f"{case}.zip") as packed:
        packed.extractall(tmp_path)
    find_bootstrapped(tmp_path / case)
    connector = session.catalogs.get("hudi")
    assert isinstance(connector, HudiConnector)
    HudiCatalog(connector, make_session(connector)).register(tmp_path / case, case)
    assert_same_table(session.arrow(f"hudi.s.{case}").read_all(), expected(case, "snapshot"))
