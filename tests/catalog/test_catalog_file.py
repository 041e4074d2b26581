"""Catalog files that are written are read back the same, and nobody's file is lost."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from catalog.catalog_file import write_catalog_file
from catalog.config import load_catalog_file
from connector_spi.errors import InvalidArgumentError, InvalidPropertyError

PROPERTIES = {
    "hive.metastore.uri": "thrift://host:9083",
    "odd key=x:#": " leading, back\\slash, tab\there\nand a line; ünïcode ${ENV:PW}",
    "empty": "",
}


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    file = write_catalog_file(tmp_path / "new", "lake", "hive", PROPERTIES)
    config = load_catalog_file(file)
    assert (config.name, config.connector_name) == ("lake", "hive")
    assert {prop.key: prop.text for prop in config.properties} == PROPERTIES
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["lake.properties"]


def test_another_file_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    file = write_catalog_file(tmp_path, "lake", "memory", {})
    with pytest.raises(InvalidArgumentError, match="--replace"):
        write_catalog_file(tmp_path, "lake", "hive", {})
    assert load_catalog_file(file).connector_name == "memory"
    write_catalog_file(tmp_path, "lake", "hive", {}, replace=True)
    assert load_catalog_file(file).connector_name == "hive"
    assert [one.name for one in tmp_path.iterdir()] == ["lake.properties"]


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidPropertyError, match="blanks"):
        write_catalog_file(tmp_path, "lake", "hive", {"a": "x "})
    with pytest.raises(InvalidPropertyError, match="not a valid catalog name"):
        write_catalog_file(tmp_path, "../lake", "hive", {})
    taken = tmp_path / "file"
    taken.write_text("")
    with pytest.raises(InvalidPropertyError, match="cannot be written"):
        write_catalog_file(taken, "lake", "hive", {})
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
