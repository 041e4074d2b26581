"""Where settings come from: flags, environment, profile, file, in this order."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidPropertyError, NotSupportedError
from connectors.hive.connector import HivePlugin
from connectors.memory.connector import MemoryPlugin
from lakeport.shell.configuration import EXAMPLE, GivenSetting, apply_configuration
from lakeport.shell.session_settings import session_settings

TEXT = """
profile = "dev"
catalogs = "catalogs"
catalog = "top"
output-format = "csv"
session = { "mem.task_pushdown" = true, mem.native_reader = true }

[profiles.dev]
schema = "dev"

[profiles.prod]
catalog = "prod"
schema = "prod"
[profiles.prod.session.mem]
task_pushdown = false
[profiles.prod.spark]
"spark.driver.memory" = "8g"
spark.sql.shuffle.partitions = 4
"""


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CATALOGS", "CATALOG", "SCHEMA", "OUTPUT_FORMAT", "DIALECT", "PROFILE", "CONFIG"):
        monkeypatch.delenv(f"LAKEPORT_{name}", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lakeport" / "config.toml"
    path.parent.mkdir()
    path.write_text(TEXT)
    return path


def applied(**flags: object) -> argparse.Namespace:
    names = ("config", "profile", "catalogs", "catalog", "schema", "output_format", "dialect", "session")
    arguments = argparse.Namespace(**{name: flags.get(name) for name in names})
    apply_configuration(arguments)
    return arguments


def texts(settings: tuple[GivenSetting, ...]) -> dict[str, str]:
    return {one.name: one.text for one in settings}


def test_with_no_file_there_are_the_defaults() -> None:
    found = applied()
    assert (found.catalogs, found.catalog, found.output_format, found.dialect) == (None, None, "aligned", "spark")
    assert (found.session_properties, found.engine_settings) == ((), ())


def test_the_file_and_its_own_profile(file: Path) -> None:
    found = applied()
    assert found.catalogs == str(file.parent / "catalogs")
    assert (found.catalog, found.schema, found.output_format) == ("top", "dev", "csv")
    assert texts(found.session_properties) == {"mem.task_pushdown": "true", "mem.native_reader": "true"}


def test_who_wins(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEPORT_PROFILE", "prod")
    found = applied()
    assert (found.catalog, found.schema) == ("prod", "prod")
    assert texts(found.session_properties) == {"mem.task_pushdown": "false", "mem.native_reader": "true"}
    assert texts(found.engine_settings) == {"spark.driver.memory": "8g", "spark.sql.shuffle.partitions": "4"}
    monkeypatch.setenv("LAKEPORT_CATALOG", "env")
    assert applied().catalog == "env"
    assert applied(catalog="flag").catalog == "flag"
    assert applied(profile="dev").schema == "dev"
    flags = ["mem.task_pushdown=true"]
    assert texts(applied(session=flags).session_properties)["mem.task_pushdown"] == "true"


@pytest.mark.parametrize(
    ("text", "flags", "says"),
    [
        ("catalgs = 'x'", {}, "config.toml: unknown key 'catalgs'; did you mean 'catalogs'?"),
        ("[profiles.p]\nschma = 'x'", {}, "profile 'p': unknown key 'schma'; did you mean 'schema'?"),
        ("[profiles.prod]", {"profile": "prd"}, "no profile 'prd'; did you mean 'prod'?"),
        ("catalog = 1", {}, "catalog: expected a text, met 1"),
        ("session = 1", {}, "session: expected a table"),
        ("output-format = 'cvs'", {}, "met 'cvs'; did you mean 'csv'?"),
        ("catalog = ", {}, "is not TOML"),
        ("", {"session": ["x"]}, "--session x: expected catalog.property=value"),
        ("", {"config": "/nowhere.toml"}, "/nowhere.toml cannot be read"),
    ],
)
def test_what_is_wrong_is_named(file: Path, text: str, flags: dict[str, object], says: str) -> None:
    file.write_text(text)
    with pytest.raises(InvalidPropertyError) as caught:
        applied(**flags)
    assert says in str(caught.value)


def test_a_profile_without_a_file() -> None:
    with pytest.raises(InvalidPropertyError, match="no profile 'prod'"):
        applied(profile="prod")


def test_session_properties_are_checked_before_spark_starts() -> None:
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})

    def settings(name: str, text: str) -> dict[str, str]:
        found = session_settings(registry, "spark", [GivenSetting(name, text, "--session")])
        return {**found.properties, **found.engines["spark"]}

    assert settings("mem.task_pushdown", "false") == {"mem.task_pushdown": "false"}
    assert settings("spark.lakeport.mem.task_pushdown", "true") == {"mem.task_pushdown": "true"}
    assert settings("spark.sql.ansi.enabled", "true") == {"spark.sql.ansi.enabled": "true"}
    for name, text, says in (
        ("mem.task_pushdwn", "true", "did you mean 'task_pushdown'"),
        ("mem.task_pushdown", "maybe", "expects true or false, met 'maybe'"),
        ("mm.task_pushdown", "true", "no catalog 'mm'; did you mean 'mem'"),
        ("task_pushdown", "true", "names no catalog"),
    ):
        with pytest.raises(InvalidPropertyError, match=says):
            settings(name, text)
    registry.shutdown()


@pytest.mark.parametrize(
    ("engine", "name", "says"),
    [
        (
            "duckdb",
            "spark.sql.ansi.enabled",
            "is for the engine spark, and the engine is duckdb",
        ),
        ("duckdb", "mem.task_pushdown", "'mem.task_pushdown' is for the engine spark"),
        ("spark", "duckdb.memory_limit", "is for the engine duckdb, and the engine is spark"),
    ],
)
def test_settings_of_another_engine_are_refused(engine: str, name: str, says: str) -> None:
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    registry.register("mem", "memory", {})
    with pytest.raises(NotSupportedError, match=says):
        session_settings(registry, engine, [GivenSetting(name, "1", "--session")])
    registry.shutdown()


def test_settings_of_both_engines_may_be_in_the_file(file: Path) -> None:
    file.write_text('spark = { "spark.driver.memory" = "8g" }\n[duckdb]\nmemory_limit = "4GB"\n[profiles.p.duckdb]\n'
                    '"duckdb.threads" = 2\n')  # fmt: skip
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test")
    given = applied(profile="p").engine_settings
    assert session_settings(registry, "spark", [], given).engines == {
        "spark": {"spark.driver.memory": "8g"},
        "duckdb": {"memory_limit": "4GB", "threads": "2"},
    }
    registry.shutdown()


def test_the_example_of_the_help_is_accepted(tmp_path: Path) -> None:
    registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
    path = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(tmp_path / "m.db")}
    registry.register("hive", "hive", path)
    given = applied(session=[EXAMPLE]).session_properties
    assert session_settings(registry, "duckdb", given).properties == {EXAMPLE.split("=")[0]: "false"}
    registry.shutdown()
