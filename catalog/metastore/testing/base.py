"""What a metastore under test has to say of itself."""

from __future__ import annotations

import pytest

from catalog.metastore.factory import Metastore

__all__ = ["MetastoreConformanceBase"]


class MetastoreConformanceBase:
    """The hooks: fixtures that a subclass overrides."""

    @pytest.fixture
    def metastore(self) -> Metastore:
        """The metastore, with a database ``default``; what other tests left in it does not matter."""
        raise NotImplementedError(f"{type(self).__name__} has no fixture 'metastore'")

    @pytest.fixture
    def makes_managed_tables(self) -> bool:
        """Whether a managed table that is not transactional stays one; Hive 4 makes an external one of it."""
        return True

    @pytest.fixture
    def has_write_ids(self) -> bool:
        """Whether it knows transactional tables of all kinds; Hive 2 knows full ACID alone."""
        return True
