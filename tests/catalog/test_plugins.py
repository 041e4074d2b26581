from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from catalog.plugins import ENTRY_POINT_GROUP, PluginSet, discover_plugins
from connector_spi.connector import SPI_VERSION
from connector_spi.errors import InvalidPropertyError
from tests.catalog.fake_plugins import CountingPlugin, OldPlugin

HERE = "tests.catalog.fake_plugins"


def point(name: str, target: str) -> EntryPoint:
    return EntryPoint(name, target, ENTRY_POINT_GROUP)


def test_one_bad_plugin_does_not_hinder_the_others() -> None:
    found = discover_plugins(
        [
            point("gone", "no_such_package.plugin:Plugin"),
            point("exits", f"{HERE}:ExitingPlugin"),
            point("old", f"{HERE}:OldPlugin"),
            point("strange", "pathlib:Path"),
            point("good", f"{HERE}:CountingPlugin"),
        ]
    )
    assert sorted(found.factories) == ["counting", "counting-hadoop2"]
    reasons = {failure.plugin: failure.reason for failure in found.failures}
    assert sorted(reasons) == ["exits", "gone", "old", "strange"]
    assert "no_such_package" in reasons["gone"]
    assert f"version 0 of the SPI, this is version {SPI_VERSION}" in reasons["old"]
    assert "expected a connector_spi.Plugin or ConnectorFactory" in reasons["strange"]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("OldFactory", f"written for version 0 of the SPI, this is version {SPI_VERSION}"),
        ("OldFactoryPlugin", f"written for version 0 of the SPI, this is version {SPI_VERSION}"),
        ("SilentFactory", "SilentFactory does not say for which version of the SPI it was written; expected a line"),
        ("SilentPlugin", f"expected a line such as 'spi_version = {SPI_VERSION}' in the class"),
    ],
)
def test_a_plugin_says_what_it_was_written_for(target: str, reason: str) -> None:
    found = discover_plugins([point("it", f"{HERE}:{target}")])
    assert not found.factories
    [failure] = found.failures
    assert reason in failure.reason


def test_a_name_is_taken_once_in_a_fixed_order() -> None:
    found = discover_plugins([point("b", f"{HERE}:CountingPlugin"), point("a", f"{HERE}:CountingPlugin")])
    assert [failure.plugin for failure in found.failures] == ["b"]
    assert "'counting' is taken" in found.failures[0].reason


def test_a_plugin_of_the_connector_s_name_is_found_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading the others is slow, and one that is first in the order does not take the name."""
    found = discover_plugins(
        [
            point("a", f"{HERE}:CountingPlugin"),
            point("counting", f"{HERE}:CountingPlugin"),
            point("gone", "no_such_package.plugin:Plugin"),
        ]
    )
    loaded: list[str] = []
    load = EntryPoint.load

    def noted(self: EntryPoint) -> object:
        loaded.append(self.name)
        return load(self)

    monkeypatch.setattr(EntryPoint, "load", noted)
    chosen = found.factory("counting", "x")
    assert loaded == ["counting"]
    assert found.factories["counting"] is chosen
    assert found.factory("counting-hadoop2", "x") is chosen
    assert loaded == ["counting", "a", "gone"]
    assert [failure.plugin for failure in found.failures] == ["a", "gone"]


def test_the_same_package_twice_on_the_path_is_one_plugin() -> None:
    found = discover_plugins([point("a", f"{HERE}:CountingPlugin"), point("a", f"{HERE}:CountingPlugin")])
    assert not found.failures


def test_an_alias_means_the_same_connector() -> None:
    plugins = PluginSet.of(CountingPlugin())
    assert plugins.factory("counting-hadoop2", "x") is plugins.factory("counting", "x")


def test_an_unknown_connector_names_the_closest_and_all() -> None:
    with pytest.raises(InvalidPropertyError) as met:
        PluginSet.of(CountingPlugin()).factory("countin", "etc/catalog/a.properties, line 1")
    assert "etc/catalog/a.properties, line 1: unknown connector 'countin'; did you mean 'counting'?" in str(met.value)
    assert "known connectors: counting" in str(met.value)


def test_an_unknown_connector_says_that_its_plugin_was_left_out() -> None:
    found = discover_plugins([point("old", f"{HERE}:{OldPlugin.__name__}")])
    with pytest.raises(InvalidPropertyError, match=r"plugin 'old' .* is left out: it was written for version 0"):
        found.factory("old", "catalog 'a'")


class OtherPoint:
    """What importlib_metadata, a library, puts in the place of Python's own entry points."""

    name = "good"
    value = f"{HERE}:CountingPlugin"


def test_entry_points_of_another_class() -> None:
    found = discover_plugins([OtherPoint()])  # type: ignore[list-item]
    assert not found.failures
    assert "counting" in found.factories
