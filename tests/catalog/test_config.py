from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from catalog.config import BrokenCatalog, CatalogConfig, load_catalog_directory, load_catalog_file
from connector_spi.errors import InvalidPropertyError
from tests.catalog.fake_plugins import CountingFactory

PROPERTIES = CountingFactory().config_properties


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_gives_its_name_connector_and_properties(tmp_path: Path) -> None:
    path = write(
        tmp_path, "sales.properties", "connector.name=counting\nserver.uri = thrift://a:1\nserver.timeout=250ms"
    )
    config = load_catalog_file(path)
    assert (config.name, config.connector_name) == ("sales", "counting")
    assert config.typed_properties(PROPERTIES).as_dict() == {
        "server.uri": "thrift://a:1",
        "server.password": None,
        "server.timeout": 0.25,
        "server.retries": 3,
        "fail": None,
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("server.urri=x", "line 3: unknown property 'server.urri'; did you mean 'server.uri'?"),
        (
            "server.timeout=30 parsecs",
            "line 3: property 'server.timeout' expects duration such as 30s, met '30 parsecs'",
        ),
        ("server.retries=10", "line 3: property 'server.retries' expects whole number from 0 to 9, met '10'"),
        (
            "server.uri=${ENV:NO_SUCH_VARIABLE}",
            "line 3: property 'server.uri': environment variable 'NO_SUCH_VARIABLE'",
        ),
        ("server.uri=${VAULT:x}", "line 3: property 'server.uri': met '${VAULT:...}', expected ${ENV:NAME}"),
        ("server.uri=${FILE:no/such}", "line 3: property 'server.uri': file "),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, "sales.properties", f"connector.name=counting\n\n{line}\n")
    with pytest.raises(InvalidPropertyError) as met:
        load_catalog_file(path).typed_properties(PROPERTIES)
    assert f"{path}, {message}" in str(met.value)


def test_placeholders_are_filled_and_not_filled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "${ENV:PORT}")
    write(tmp_path, "secret.txt", "s3cret \n")
    text = "connector.name=counting\nserver.uri=thrift://${ENV:HOST}:1\nserver.password=${FILE:secret.txt}"
    values = load_catalog_file(write(tmp_path, "sales.properties", text)).typed_properties(PROPERTIES).as_dict()
    assert values["server.uri"] == "thrift://${ENV:PORT}:1"
    assert values["server.password"] == "s3cret"


@pytest.mark.parametrize("line", ["server.retries=${ENV:SECRET}", "server.uri=${FILE:${ENV:SECRET}}"])
def test_a_filled_value_is_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    path = write(tmp_path, "sales.properties", f"connector.name=counting\n{line}")
    with pytest.raises(InvalidPropertyError) as met:
        load_catalog_file(path).typed_properties(PROPERTIES)
    assert "hunter2" not in "".join(traceback.format_exception(met.value))


def test_texts_are_not_in_repr() -> None:
    config = CatalogConfig.from_mapping("sales", "counting", {"server.password": "hunter2"})
    assert "hunter2" not in repr(config) + str(config)


def test_a_catalog_from_python_is_named_in_messages() -> None:
    config = CatalogConfig.from_mapping("sales", "counting", {"server.urri": "x"})
    with pytest.raises(InvalidPropertyError, match=r"catalog 'sales': unknown property 'server\.urri'; did you mean"):
        config.typed_properties(PROPERTIES)


def test_a_missing_connector_name_hints_at_a_typing_error(tmp_path: Path) -> None:
    path = write(tmp_path, "sales.properties", "conector.name=counting\n")
    with pytest.raises(InvalidPropertyError, match=r"did you mean 'conector\.name'"):
        load_catalog_file(path)


@pytest.mark.parametrize("name", ["", "Sales", "a.b", "1a", "a b", "a`b", "ä"])
def test_names_that_sql_cannot_say(name: str) -> None:
    with pytest.raises(InvalidPropertyError, match="is not a valid catalog name"):
        CatalogConfig.from_mapping(name, "counting", {})


def test_a_bad_file_does_not_hinder_the_others(tmp_path: Path) -> None:
    write(tmp_path, "b.properties", "connector.name=counting\n")
    write(tmp_path, "a.properties", "server.uri=x\n")
    (tmp_path / "c.properties").write_bytes(b"connector.name=\xff\xfe")
    write(tmp_path, "notes.txt", "not a catalog")
    first, second, third = load_catalog_directory(tmp_path)
    assert isinstance(first, BrokenCatalog)
    assert "a.properties" in str(first.error)
    assert isinstance(second, CatalogConfig)
    assert isinstance(third, BrokenCatalog)
    assert "UTF-8" in str(third.error)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidPropertyError, match="is not a directory"):
        load_catalog_directory(tmp_path / "nothing")
