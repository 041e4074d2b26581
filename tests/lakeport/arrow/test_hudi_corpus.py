"""Tables of real Hudi through ``session.arrow``, with no Spark: merge-on-read tables, and change feeds."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow.compute as pc
import pytest

from connectors.hudi.connector import HudiConnector
from lakeport.connection import connect
from lakeport.session import Session
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_session
from tests.connectors.hudi.corpus import HUDI, answers, expected, find_bootstrapped
from tests.connectors.hudi.test_merge_on_read import MOR, NEWER
from tests.paths import CORPUS
from tests.rows import assert_same_table

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


def register(session: Session, case: str, folder: Path) -> str:
    with zipfile.ZipFile(HUDI / f"{case}.zip") as packed:
        packed.extractall(folder)
    find_bootstrapped(folder / case)
    connector = session.catalogs.get("hudi")
    assert isinstance(connector, HudiConnector)
    name = f"{case}_{uuid4().hex[:8]}"  # several tests read a case
    HudiCatalog(connector, make_session(connector)).register(folder / case, name)
    return f"hudi.s.{name}"


@pytest.mark.parametrize("case", READ)
def test_snapshot(session: Session, case: str, tmp_path: Path) -> None:
    assert_same_table(session.arrow(register(session, case, tmp_path)).read_all(), expected(case, "snapshot"))


@pytest.mark.slow
@pytest.mark.parametrize("case", ["v9_cdc_beforeafter_mor", "v9_cdc_key_cow"])
def test_change_feed(session: Session, case: str, tmp_path: Path) -> None:
    name = register(session, case, tmp_path)
    for between in answers(case, "cdc"):
        begin, _, end = between.partition("_")
        options = {
            "hoodie.datasource.query.type": "incremental",
            "hoodie.datasource.query.incremental.format": "cdc",
            "hoodie.datasource.read.begin.instanttime": begin,
            "hoodie.datasource.read.end.instanttime": end,
        }
        answer = expected(case, f"cdc_{between}")
        assert_same_table(session.arrow(name, options=options).read_all(), answer)
        some = session.arrow(name, columns=["before", "op"], where=[("op", "=", "u")], options=options).read_all()
        updates = answer.filter(pc.equal(answer.column("op"), "u")).select(["before", "op"])
        assert_same_table(some, updates)
