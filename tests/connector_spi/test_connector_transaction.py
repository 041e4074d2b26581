from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from connector_spi.connector_transaction import ConnectorTransaction, TransactionState
from connector_spi.errors import InternalError


class CountedTransaction(ConnectorTransaction):
    def __init__(self) -> None:
        super().__init__()
        self.ends: list[str] = []

    def on_commit(self) -> None:
        self.ends.append("commit")

    def on_rollback(self) -> None:
        self.ends.append("rollback")


def test_only_the_first_end_counts() -> None:
    transaction = CountedTransaction()
    states = [transaction.state]
    transaction.rollback()
    with pytest.raises(InternalError, match="the transaction is rolled back; it can end only once"):
        transaction.commit()
    assert transaction.ends == ["rollback"]
    assert [*states, transaction.state] == [TransactionState.OPEN, TransactionState.ROLLED_BACK]


def test_of_many_threads_one_ends_it() -> None:
    transaction = CountedTransaction()
    start = threading.Barrier(8)

    def end(number: int) -> bool:
        start.wait()
        try:
            (transaction.commit if number % 2 else transaction.rollback)()
        except InternalError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(end, range(8))) == 1
    assert len(transaction.ends) == 1
