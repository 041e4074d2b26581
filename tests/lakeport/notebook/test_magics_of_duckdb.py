"""The magics with the engine duckdb, in an IPython of this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import lakeport
from connector_spi.errors import InvalidArgumentError, TableNotFoundError
from lakeport.catalog_session import CatalogSession
from lakeport.duckdb.result import LocalResult
from lakeport.notebook.magics import LakeportMagics
from tests.lakeport.sample_session import sample_session


@pytest.fixture
def magics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LakeportMagics]:
    sample_session(tmp_path).close()
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    made = LakeportMagics(InteractiveShell(config=Config({"HistoryManager": {"enabled": False}})))
    made.lakeport(f"--engine duckdb --catalogs {tmp_path / 'catalogs'}")
    yield made
    made.close()


def test_results(magics: LakeportMagics) -> None:
    shown = magics.lakeport("--rows 2", "USE hive.sales;\nSELECT id, s FROM labels ORDER BY id")
    assert "(first 2 rows, there are more)" in repr(shown)
    assert "<td" in shown._repr_html_()
    count = magics.lakeport("SELECT count(*) AS n FROM labels")
    rows = count.to_arrow().to_pylist()
    assert rows == pa.table(count).to_pylist()
    assert magics.lakeport("--format arrow SELECT max(id) AS m FROM labels").num_rows == 1
    assert magics.lakeport("--format polars SELECT max(id) AS m FROM labels")["m"].len() == 1
    assert isinstance(magics.lakeport("--format duckdb SELECT 1 AS one"), LocalResult)
    assert magics.lakeport("SET duckdb.threads = 1").to_arrow().to_pylist() == [{"key": "duckdb.threads", "value": "1"}]
    assert magics.lakeport("RESET") is None


def test_errors(magics: LakeportMagics) -> None:
    with pytest.raises(TableNotFoundError) as caught:
        magics.lakeport("SELECT 1 AS a FROM hive.sales.labls")
    assert any("labls" in line for line in getattr(caught.value, "_render_traceback_")())  # noqa: B009
    with pytest.raises(InvalidArgumentError, match="--format spark is a result of the engine spark"):
        magics.lakeport("--format spark SELECT 1 AS a")
    with pytest.raises(InvalidArgumentError, match="unknown engine 'duk'"):
        magics.lakeport("--engine duk SELECT 1 AS a")


def test_sessions(magics: LakeportMagics, tmp_path: Path) -> None:
    """An engine alone keeps the catalogs, catalogs alone keep the engine; a variable brings its own."""
    first = magics._session
    assert isinstance(first, CatalogSession)
    magics.lakeport("--engine duckdb")
    assert magics._session is not first
    assert magics._session is not None
    assert magics._session.tables("hive.sales") == first.tables("hive.sales")
    magics.lakeport(f"--catalogs {tmp_path / 'catalogs'}")
    assert magics._session.engine.name == "duckdb"
    with lakeport.connect(catalogs=tmp_path / "catalogs", engine="duckdb") as mine:
        magics.shell.user_ns["mine"] = mine
        assert repr(magics.lakeport("--session mine SELECT 7 AS seven")).split()[:3] == ["seven", "-------", "7"]
        with mine.transaction():
            assert "count" in repr(magics.lakeport("SELECT count(*) AS count FROM hive.sales.labels"))
