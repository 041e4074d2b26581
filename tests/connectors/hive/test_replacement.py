"""A table that is replaced: what stays where the metastore gives no answer."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.embedded.metastore import EmbeddedMetastore
from catalog.metastore.error_codes import CONNECTION_FAILED, REFUSED_REQUEST
from connector_spi.errors import ErrorCode, MetastoreError
from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from connectors.hive.registration.replacement import swap
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.table_writer import create_table


@pytest.mark.parametrize(("code", "kept"), [(CONNECTION_FAILED, True), (REFUSED_REQUEST, False)])
def test_new_rows_stay_where_the_metastore_may_have_taken_them(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: ErrorCode, kept: bool
) -> None:
    for name in ("old", "new"):
        create_table(hive.metastore, tmp_path, "s", name, pa.table({"id": [1]}), file_format="orc")

    def fail(*arguments: object) -> None:
        raise MetastoreError("no answer", code)

    monkeypatch.setattr("connectors.hive.registration.replacement.is_swapped", lambda old, new: True)
    monkeypatch.setattr(EmbeddedMetastore, "alter_table", fail)
    with pytest.raises(MetastoreError, match="no answer"):
        swap(hive.metastore, FileSystem(), SchemaTableName("s", "old"), SchemaTableName("s", "new"))
    assert (tmp_path / "s" / "old").exists()
    assert (tmp_path / "s" / "new").exists() is kept
