from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.errors import (
    CatalogNotFoundError,
    InternalError,
    InvalidArgumentError,
    InvalidPropertyError,
    UserError,
)
from tests.catalog.fake_plugins import CountingConnector, CountingFactory, CountingPlugin


@pytest.fixture
def plugin() -> CountingPlugin:
    return CountingPlugin()


@pytest.fixture
def factory(plugin: CountingPlugin) -> CountingFactory:
    return plugin.factory


@pytest.fixture
def registry(plugin: CountingPlugin) -> Iterator[CatalogRegistry]:
    made = CatalogRegistry(PluginSet.of(plugin), "0.1")
    yield made
    made.shutdown()


def test_a_catalog_is_built_on_first_use_and_once(registry: CatalogRegistry, factory: CountingFactory) -> None:
    registry.register("b", "counting", {"server.retries": "5"})
    registry.register("a", "counting-hadoop2", {})
    assert registry.names() == ["a", "b"]
    assert factory.made == []
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(registry.get, ["b"] * 50))
    assert len(factory.made) == 1
    assert all(connector is factory.made[0] for connector in got)
    assert factory.made[0].properties["server.retries"] == 5


def test_a_secret_that_looks_like_a_placeholder_reaches_another_connector_as_it_is(
    registry: CatalogRegistry, factory: CountingFactory, tmp_path: Path
) -> None:
    secret = "a${ENV:LAKEPORT_TEST_NEVER_SET}b"
    (tmp_path / "password").write_text(secret)
    registry.register("a", "counting", {"server.password": f"${{FILE:{tmp_path / 'password'}}}"})
    registry.get("a")
    registry.sibling("a", "counting", {"server.password": str(factory.made[0].properties["server.password"])})
    assert [one.properties["server.password"] for one in factory.made] == [secret, secret]


def test_a_slow_catalog_does_not_hold_the_others_back(registry: CatalogRegistry, factory: CountingFactory) -> None:
    factory.gates["slow"] = threading.Event()
    registry.register("slow", "counting", {})
    registry.register("quick", "counting", {})
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(registry.get, "slow")
        assert isinstance(registry.get("quick"), CountingConnector)
        registry.drop("quick")
        assert registry.names() == ["slow"]
        assert not slow.done()
        factory.gates["slow"].set()
        assert isinstance(slow.result(60), CountingConnector)


@pytest.mark.parametrize(
    ("connector", "properties", "message"),
    [
        ("countin", {}, "catalog 'a': unknown connector 'countin'; did you mean 'counting'"),
        ("counting", {"server.retrys": "1"}, "did you mean 'server.retries'"),
        ("counting", {"server.retries": "many"}, "expects whole number"),
    ],
)
def test_register_refuses_at_once(
    registry: CatalogRegistry, connector: str, properties: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidPropertyError, match=message):
        registry.register("a", connector, properties)
    assert registry.names() == []


def test_a_name_is_registered_once(registry: CatalogRegistry) -> None:
    registry.register("a", "counting", {})
    with pytest.raises(InvalidArgumentError, match="catalog 'a' exists already; drop it first"):
        registry.register("a", "counting", {})


def test_a_bad_file_is_raised_when_its_catalog_is_used(registry: CatalogRegistry, tmp_path: Path) -> None:
    (tmp_path / "good.properties").write_text("connector.name=counting")
    (tmp_path / "unnamed.properties").write_text("server.uri=x")
    (tmp_path / "unknown.properties").write_text("\nconnector.name=oracle")
    (tmp_path / "wrong.properties").write_text("connector.name=counting\nserver.urri=x")
    registry.register_directory(tmp_path)
    assert registry.names() == ["good", "unknown", "unnamed", "wrong"]
    assert isinstance(registry.get("good"), CountingConnector)
    for _ in range(2):
        with pytest.raises(InvalidPropertyError, match=r"unnamed\.properties: property 'connector\.name' is missing"):
            registry.get("unnamed")
    errors = {check.name: check.error for check in registry.check()}
    assert errors["good"] is None
    assert "unknown.properties, line 2: unknown connector 'oracle'" in str(errors["unknown"])
    assert "wrong.properties, line 2: unknown property 'server.urri'" in str(errors["wrong"])
    assert registry.connector_name("unnamed") is None


def test_an_unknown_catalog_names_the_closest(registry: CatalogRegistry) -> None:
    registry.register("sales", "counting", {})
    registry.register("hr", "counting", {})
    with pytest.raises(CatalogNotFoundError, match=r"no catalog 'sale'; did you mean 'sales'.*there are: hr, sales"):
        registry.get("sale")
    with pytest.raises(CatalogNotFoundError, match="no catalog 'sale'"):
        registry.drop("sale")


def test_a_connector_that_fails_is_named_and_tried_again(registry: CatalogRegistry) -> None:
    registry.register("a", "counting", {"fail": "create"})
    for _ in range(2):
        with pytest.raises(InternalError, match="'counting' failed to create catalog 'a': RuntimeError: out of tea"):
            registry.get("a")


def test_a_connector_that_is_there(registry: CatalogRegistry, plugin: CountingPlugin) -> None:
    registry.register("one", "counting", {})
    made = registry.get("one")
    assert isinstance(made, CountingConnector)
    other = CatalogRegistry(PluginSet.of(plugin), "0.1")
    other.register_connector("system", made)
    assert other.get("system") is made
    with pytest.raises(InvalidArgumentError, match="catalog 'system' exists already"):
        other.register_connector("system", made)
    other.shutdown()
    assert made.shutdowns == 1


def test_drop_shuts_down_what_was_built(registry: CatalogRegistry, factory: CountingFactory) -> None:
    registry.register("a", "counting", {})
    registry.get("a")
    registry.drop("a")
    assert factory.made[0].shutdowns == 1
    with pytest.raises(CatalogNotFoundError):
        registry.get("a")
    registry.register("a", "counting", {})
    assert registry.get("a") is not factory.made[0]


def test_listeners_see_changes_before_the_connector_goes(registry: CatalogRegistry, factory: CountingFactory) -> None:
    seen: list[tuple[str, str, int]] = []

    def listener(event: str, name: str) -> None:
        seen.append((str(event), name, sum(connector.shutdowns for connector in factory.made)))
        if event == "registered":
            registry.get(name)

    registry.add_listener(listener)
    registry.register("a", "counting", {})
    registry.drop("a")
    assert seen == [("registered", "a", 0), ("dropped", "a", 0)]
    assert factory.made[0].shutdowns == 1


def test_a_listener_that_refuses_undoes_the_register(registry: CatalogRegistry, factory: CountingFactory) -> None:
    seen: list[str] = []

    def use(event: str, name: str) -> None:
        seen.append(str(event))
        if event == "registered":
            registry.get(name)

    def refuse(event: str, name: str) -> None:
        raise UserError(f"{name} is Spark's own")

    registry.add_listener(use)
    registry.add_listener(refuse)
    with pytest.raises(UserError, match="Spark's own"):
        registry.register("taken", "counting", {})
    assert registry.names() == []
    assert seen == ["registered", "dropped"]
    assert [connector.shutdowns for connector in factory.made] == [1]


def test_shutdown_frees_all_and_refuses_later_calls(plugin: CountingPlugin, factory: CountingFactory) -> None:
    registry = CatalogRegistry(PluginSet.of(plugin), "0.1")
    for name in ("a", "b", "c"):
        registry.register(name, "counting", {"fail": "shutdown"} if name == "a" else {})
    registry.get("a")
    registry.get("b")
    with pytest.raises(RuntimeError, match="cannot stop"):
        registry.shutdown()
    registry.shutdown()
    assert [connector.shutdowns for connector in factory.made] == [1, 1]
    for call in (registry.names, lambda: registry.get("a"), lambda: registry.register("d", "counting", {})):
        with pytest.raises(UserError, match="the session and its catalogs are closed"):
            call()
