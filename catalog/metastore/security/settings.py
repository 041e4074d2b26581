"""What a catalog says about securing its connections to the metastore."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SecuritySettings"]


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """How connections are secured.

    Attributes:
        impersonation: Each query reaches the metastore as its own user
            (``hive.metastore.thrift.impersonation.enabled``).
    """

    impersonation: bool = False
