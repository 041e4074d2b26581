"""Tables in memory under rules, and sessions of users over them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from catalog.access_control.file_access_control import FileAccessControl
from catalog.access_control.security import Security
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connector_spi.connector import SPI_VERSION, ConnectorContext
from connector_spi.names import SchemaTableName
from connector_spi.properties import parse_properties
from connector_spi.security import Identity
from connectors.memory.connector import MemoryConnector, MemoryFactory, MemoryPlugin

__all__ = ["ALL", "ANALYST", "RULES", "SECRETS", "memory_with_orders", "registry_of", "write_rules"]

ALL = ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP"]
ANALYST = Identity("ann", frozenset({"analysts"}))
RULES: Mapping[str, Sequence[Mapping[str, object]]] = {
    "catalogs": [{"user": "blocked", "allow": "none"}, {"allow": "all"}],
    "schemas": [{"user": "admin", "owner": True}],
    "procedures": [{"user": "admin", "privileges": ["EXECUTE"]}],
    "tables": [
        {"user": "admin", "privileges": ALL},
        {"user": "writer", "schema": "s", "table": "orders", "privileges": ["INSERT"]},
        {
            "group": "analysts",
            "schema": "s",
            "table": "orders",
            "privileges": ["SELECT"],
            "filter": "region = 'eu'",
            "columns": [
                {"name": "ssn", "mask": "'XXX-XX-' || substring(ssn, -4)"},
                {"name": "note", "allow": False},
            ],
        },
        {"group": "analysts", "schema": "s", "table": "open", "privileges": ["SELECT"]},
    ],
}
SECRETS = ("111-22-3333", "222-33-4444", "333-44-5555", "hush-1", "hush-2", "hush-3", "sealed")
"""What an analyst never sees, in whatever comes back."""
_ORDERS = {
    "id": [1, 2, 3],
    "region": ["eu", "us", "eu"],
    "ssn": ["111-22-3333", "222-33-4444", "333-44-5555"],
    "note": ["hush-1", "hush-2", "hush-3"],
    "amount": [10, 20, 30],
}


def memory_with_orders() -> MemoryConnector:
    """The tables ``s.orders``, ``s.open`` and ``s.secret``."""
    factory = MemoryFactory()
    properties = parse_properties(factory.config_properties, {}, str)
    connector = factory.create("mem", properties, ConnectorContext(SPI_VERSION, "test"))
    connector.create_schema("s")
    orders = pa.table(_ORDERS)
    connector.create_table(SchemaTableName("s", "orders"), orders, ["region"])
    connector.create_table(SchemaTableName("s", "open"), pa.table({"id": [1, 2], "name": ["one", "two"]}), [])
    connector.create_table(SchemaTableName("s", "secret"), pa.table({"id": [1], "word": ["sealed"]}), [])
    return connector


def write_rules(folder: Path, rules: Mapping[str, object] = RULES) -> Path:
    """A file of rules."""
    path = folder / "rules.json"
    path.write_text(json.dumps(rules))
    return path


def registry_of(connector: MemoryConnector, rules: Path, identity: Identity) -> CatalogRegistry:
    """The catalog ``mem`` as an identity meets it."""
    registry = CatalogRegistry(PluginSet.of(MemoryPlugin()), "test", Security(FileAccessControl(rules), own=identity))
    registry.register_connector("mem", connector)
    return registry
