"""A metastore that refuses the catalog's own user, and notes the calls of each user that is impersonated."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from catalog.metastore.calls.statistics import CallStatistics
from catalog.metastore.client import MetastoreClient, MetastoreWriter, TransactionClient
from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.factory import Metastore
from catalog.metastore.wrappers.impersonation import PerUser


class Recorder:
    """Notes the calls of one side of a metastore; refuses them where there is nobody behind it."""

    def __init__(self, calls: list[str], behind: object = None) -> None:
        self._calls = calls
        self._behind = behind

    def __getattr__(self, name: str) -> object:
        if name == "close":
            return lambda: None
        self._calls.append(name)
        assert self._behind is not None, f"{name} was asked for as the catalog's own user"
        return getattr(self._behind, name)


class Impersonated:
    """A metastore with an embedded one behind each user, and nothing behind the catalog's own."""

    def __init__(self, folder: Path) -> None:
        self.own: list[str] = []
        self.of_users: dict[str, list[str]] = {}
        self._file = folder / "metastore.db"
        side = Recorder(self.own)
        self.metastore = Metastore(
            cast(MetastoreClient, side),
            cast(MetastoreWriter, side),
            cast(TransactionClient, side),
            CallStatistics(),
            PerUser(self._make),
        )

    def _make(self, user: str) -> Metastore:
        behind = open_embedded(self._file)
        calls = self.of_users[user] = []
        return Metastore(
            cast(MetastoreClient, Recorder(calls, behind.reads)),
            cast(MetastoreWriter, Recorder(calls, behind.writes)),
            cast(TransactionClient, Recorder(calls, behind.transactions)),
            behind.calls,
        )
