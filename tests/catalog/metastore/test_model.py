"""The values travel: equal after a pickle and after JSON."""

from __future__ import annotations

import pickle
from datetime import date
from decimal import Decimal

import pytest

from catalog.metastore.model import ColumnStatistics, Parameters, Partition, Table
from catalog.metastore.testing.objects import STORAGE
from catalog.metastore.transactions import LockComponent, LockLevel, LockType, ValidTransactions, ValidWriteIds
from connector_spi.serializable import Serializable, from_json, to_json


@pytest.mark.parametrize(
    "value",
    [
        Table("d", "t", STORAGE, parameters=Parameters.of({"b": "2", "a": "1"})),
        Partition("d", "t", ("é", "1"), STORAGE),
        ColumnStatistics("c", "decimal(5,2)", 0, 2, Decimal("1.50"), Decimal("2.00")),
        ColumnStatistics("c", "date", None, None, date(2024, 1, 1), None),
        ValidTransactions(7, (3, 5), (4,), 3),
        ValidWriteIds("d.t", 7, (3,), (), 3),
        LockComponent("d", "t", "p=1", LockType.SHARED_WRITE),
    ],
)
def test_values_are_equal_after_travelling(value: Serializable) -> None:
    assert pickle.loads(pickle.dumps(value)) == value
    assert from_json(to_json(value), type(value)) == value
    assert hash(pickle.loads(pickle.dumps(value))) == hash(value)


def test_parameters_are_a_mapping() -> None:
    parameters = Parameters.of({"b": "2", "a": "1"})
    assert parameters == Parameters.of({"a": "1", "b": "2"})
    assert hash(parameters) == hash(Parameters.of({"a": "1", "b": "2"}))
    assert dict(parameters) == {"a": "1", "b": "2"}
    assert "c" not in parameters
    assert parameters.get("c", "-") == "-"
    with pytest.raises(KeyError):
        parameters["c"]
    assert dict(parameters.with_entries({"c": "3", "a": "0"})) == {"a": "0", "b": "2", "c": "3"}


def test_lists_of_ids_are_written_as_hive_writes_them() -> None:
    # The first and the third are forms that hive-storage-api's own classes read and write.
    assert ValidWriteIds("default.t", 10, (), (7, 8, 9)).to_text() == "default.t:10:9223372036854775807::7,8,9"
    assert ValidWriteIds("default.t", 10, (6, 7, 8), (), 6).to_text() == "default.t:10:6:6,7,8:"
    assert ValidTransactions(1100, (1000,), (), 1000).to_text() == "1100:1000:1000:"


def test_a_lock_covers_what_it_names() -> None:
    assert LockComponent("d").level is LockLevel.DB
    assert LockComponent("d", "t").level is LockLevel.TABLE
    assert LockComponent("d", "t", "p=1").level is LockLevel.PARTITION
