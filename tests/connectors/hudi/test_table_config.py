from __future__ import annotations

from pathlib import Path

import pytest

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.table_config import TableConfig, parse_table_config
from connectors.hudi.table_properties import read_table_config
from connectors.toolkit.storage.filesystem import FileSystem

MINIMAL = {"hoodie.table.name": "t", "hoodie.table.type": "COPY_ON_WRITE", "hoodie.table.version": "6"}


def config(**more: str) -> TableConfig:
    return parse_table_config(
        {**MINIMAL, **{f"hoodie.{key.replace('_', '.')}": text for key, text in more.items()}}, "/t"
    )


@pytest.mark.parametrize(("version", "layout"), [("5", 1), ("6", 1), ("8", 2), ("9", 2)])
def test_versions_that_are_read(version: str, layout: int) -> None:
    met = config(table_version=version)
    assert (met.version, met.layout) == (int(version), layout)
    assert met.timeline_folder == (".hoodie" if layout == 1 else ".hoodie/timeline")


def test_the_layout_counts_more_than_the_version() -> None:
    assert config(table_version="8", timeline_layout_version="1").timeline_folder == ".hoodie"


def test_the_timelines_folder_can_be_named() -> None:
    assert config(table_version="9", timeline_path="instants").timeline_folder == ".hoodie/instants"


@pytest.mark.parametrize("version", ["0", "4", "7", "10"])
def test_other_versions_are_refused(version: str) -> None:
    with pytest.raises(NotSupportedError, match=f"hoodie.table.version is {version}; versions 5, 6, 8, 9") as caught:
        config(table_version=version)
    assert caught.value.code.name == "HUDI_UNSUPPORTED_TABLE_VERSION"


def test_a_missing_version_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="upgrade"):
        parse_table_config({key: text for key, text in MINIMAL.items() if key != "hoodie.table.version"}, "/t")


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("table_format", "iceberg", "HUDI_UNSUPPORTED_TABLE_FORMAT"),
        ("table_storage_layout", "lsm_tree", "HUDI_UNSUPPORTED_TABLE_FORMAT"),
        ("table_base_file_format", "LANCE", "HUDI_UNSUPPORTED_BASE_FILE"),
        ("table_base_file_format", "HFILE", "HUDI_UNSUPPORTED_BASE_FILE"),
        ("table_ro_file_format", "HFILE", "HUDI_UNSUPPORTED_BASE_FILE"),
        ("timeline_layout_version", "3", "HUDI_UNSUPPORTED_TABLE_VERSION"),
        ("table_type", "APPEND_ONLY", "HUDI_UNSUPPORTED_TABLE_FORMAT"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_value(key: str, value: str, code: str) -> None:
    with pytest.raises(NotSupportedError, match=value) as caught:
        config(**{key: value})
    assert caught.value.code.name == code


def test_a_version_that_is_no_number_is_corrupt() -> None:
    with pytest.raises(CorruptFileError, match="'six'"):
        config(table_version="six")


@pytest.mark.parametrize(("text", "expected"), [("PARQUET", "parquet"), ("orc", "orc"), ("ORC", "orc")])
def test_formats_in_any_case(text: str, expected: str) -> None:
    assert config(table_base_file_format=text).base_format == expected


def test_fields_of_a_custom_key_generator_lose_their_kind() -> None:
    met = config(table_partition_fields="region:SIMPLE,event_ms:TIMESTAMP", table_keygenerator_type="CUSTOM")
    assert met.partition_fields == ("region", "event_ms")
    assert not met.path_tells_values


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"table_keygenerator_type": "SIMPLE"}, True),
        ({"table_keygenerator_type": "COMPLEX"}, True),
        ({"table_keygenerator_type": "TIMESTAMP"}, False),
        ({"table_keygenerator_type": "USER_PROVIDED"}, False),
        ({"table_keygenerator_class": "org.apache.hudi.keygen.SimpleKeyGenerator"}, True),
        ({"table_keygenerator_class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator"}, False),
        ({"table_keygenerator_class": "com.example.Own"}, False),
        ({"table_keygenerator_type": "SIMPLE", "keygen_timebased_timestamp_type": "DATE_STRING"}, False),
        ({"table_keygenerator_type": "SIMPLE", "datasource_write_slash_separated_date_partitioning": "true"}, False),
        ({}, False),
    ],
)
def test_only_known_key_generators_put_values_into_paths(properties: dict[str, str], expected: bool) -> None:
    assert config(**properties).path_tells_values is expected


def write(folder: Path, name: str, text: str) -> None:
    (folder / ".hoodie").mkdir(exist_ok=True)
    (folder / ".hoodie" / name).write_text(text)


TEXT = "".join(f"{key}={value}\n" for key, value in MINIMAL.items())


@pytest.mark.parametrize("main", [None, "", "hoodie.table.na"])
def test_the_backup_is_read_where_the_file_is_missing_or_cut_off(tmp_path: Path, main: str | None) -> None:
    """A writer deletes the file before it writes the new one."""
    if main is not None:
        write(tmp_path, "hoodie.properties", main)
    write(tmp_path, "hoodie.properties.backup", TEXT)
    assert read_table_config(FileSystem(), str(tmp_path)).name == "t"


def test_a_folder_without_properties_is_no_hudi_table(tmp_path: Path) -> None:
    with pytest.raises(NotSupportedError, match="no Hudi table") as caught:
        read_table_config(FileSystem(), str(tmp_path))
    assert caught.value.code.name == "HUDI_NOT_A_HUDI_TABLE"


def test_broken_properties_are_corrupt(tmp_path: Path) -> None:
    write(tmp_path, "hoodie.properties", "hoodie.table.version=6\n")
    with pytest.raises(CorruptFileError, match="backup") as caught:
        read_table_config(FileSystem(), str(tmp_path))
    assert caught.value.code.name == "HUDI_BAD_PROPERTIES"
