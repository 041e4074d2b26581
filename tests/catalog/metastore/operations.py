"""Every call of the metastore's four sides, with arguments by their types: for tests that break each of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pyarrow as pa

from catalog.metastore.client import MetastoreClient, MetastoreWriter, TransactionClient
from catalog.metastore.compactions import CompactionJob, CompactionKind
from catalog.metastore.factory import Metastore
from catalog.metastore.grants import GrantClient
from catalog.metastore.model import ColumnStatistics, Database, FieldSchema, Parameters, Partition, Table
from catalog.metastore.testing.objects import STORAGE
from catalog.metastore.transactions import LockComponent, LockOperation, ValidTransactions
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.security import Principal, Privilege, PrivilegeGrant, RoleGrant

Operation = Callable[[Metastore], object]

DATABASE, TABLE, KEY = "d", "t", FieldSchema("p", "string")
NAMES = [f"p={n}" for n in range(3)]
STATISTICS = ColumnStatistics("id", "bigint", 0, 1, 2, 3)

_SAMPLES: dict[str, object] = {
    "str": TABLE,
    "bool": False,
    "int": 1,
    "Database": Database(DATABASE),
    "Table": Table(DATABASE, TABLE, STORAGE, (KEY,)),
    "Sequence[str]": NAMES,
    "Iterable[str]": NAMES,
    "Sequence[int]": [1],
    "tuple[str, str]": (DATABASE, TABLE),
    "Sequence[tuple[str, str]]": [(DATABASE, TABLE)],
    "Sequence[FieldSchema]": (KEY,),
    "Sequence[Partition]": [Partition(DATABASE, TABLE, ("0",), STORAGE)],
    "Sequence[ColumnStatistics]": [STATISTICS],
    "Mapping[str, Parameters]": {NAMES[0]: Parameters.of({"k": "v"})},
    "Mapping[str, Sequence[ColumnStatistics]]": {NAMES[0]: [STATISTICS]},
    "Sequence[LockComponent]": [LockComponent(DATABASE, TABLE)],
    "TupleDomain[str]": TupleDomain.with_column_domains({"p": Domain.single_value(pa.string(), "1")}),
    "ValidTransactions": ValidTransactions(1),
    "CompactionKind": CompactionKind.MINOR,
    "CompactionJob": CompactionJob(1, DATABASE, TABLE, None, CompactionKind.MINOR),
    "str | None": NAMES[0],
    "LockOperation": LockOperation.UPDATE,
    "SchemaTableName": SchemaTableName(DATABASE, TABLE),
    "Principal": Principal.user("bob"),
    "Principal | None": Principal.user("bob"),
    "RoleGrant": RoleGrant("r", Principal.user("bob")),
    "Sequence[PrivilegeGrant]": [
        PrivilegeGrant(SchemaTableName(DATABASE, TABLE), Privilege.SELECT, Principal.user("bob"))
    ],
}
_BY_NAME: dict[str, object] = {"database": DATABASE, "columns": ["id"], "partitions": NAMES}


def all_operations() -> dict[str, Operation]:
    """Each abstract method of the four sides by its name, as one call of it."""
    sides = (
        ("reads", MetastoreClient),
        ("writes", MetastoreWriter),
        ("transactions", TransactionClient),
        ("grants", GrantClient),
    )
    return {
        f"{side}.{name}": _operation(side, name, inspect.signature(getattr(contract, name)))
        for side, contract in sides
        for name in sorted(contract.__abstractmethods__ - {"close"})
    }


def _operation(side: str, name: str, signature: inspect.Signature) -> Operation:
    parameters = list(signature.parameters.values())[1:]
    named = {one.name: _sample(one) for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    arguments = [_sample(one) for one in parameters if one.name not in named]

    def call(metastore: Metastore) -> object:
        return getattr(getattr(metastore, side), name)(*arguments, **named)

    return call


def _sample(parameter: inspect.Parameter) -> object:
    if parameter.annotation in ("str", "Sequence[str]") and parameter.name in _BY_NAME:
        return _BY_NAME[parameter.name]
    return _SAMPLES[parameter.annotation]
