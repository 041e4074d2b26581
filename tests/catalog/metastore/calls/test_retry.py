"""Which calls are made twice, which are not, and after what waits."""

from __future__ import annotations

import pytest

from catalog.metastore._thrift.lakeport_metastore import ThriftHiveMetastore
from catalog.metastore.calls.retry import CALL_CLASSES, CallClass, RetryPolicy, call_class

READING = ("get", "list", "show", "set_ugi", "check_lock", "heartbeat", "allocate_table_write_ids", "translate_table_")
"""How calls begin whose repetition changes nothing; all others change something each time."""


def calls() -> list[str]:
    return [name for name in vars(ThriftHiveMetastore.Iface) if not name.startswith("_")]


def test_every_call_has_its_class() -> None:
    assert set(calls()) == set(CALL_CLASSES)


@pytest.mark.parametrize("method", calls())
def test_only_what_changes_nothing_more_is_repeated(method: str) -> None:
    assert call_class(method).repeats == method.startswith(READING)


def test_a_call_that_nobody_classed_is_done_once() -> None:
    assert call_class("get_something_new") is CallClass.ONCE


def test_waits_grow_up_to_a_bound_and_differ() -> None:
    policy = RetryPolicy(max_retries=9, first_wait=1, max_wait=3)
    for _ in range(20):
        waits = [policy.wait_before(repetition) for repetition in range(4)]
        assert all(longest / 2 <= wait <= longest for wait, longest in zip(waits, [1, 2, 3, 3], strict=True))
    assert len({policy.wait_before(0) for _ in range(20)}) > 1
    assert policy.wait_before(10_000) <= 3
