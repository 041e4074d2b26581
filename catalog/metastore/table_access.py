"""What a metastore of Hive 4 lets its clients do with a table, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from connector_spi.serializable import Serializable

__all__ = ["ACCESS_PREFIX", "TableAccess"]

ACCESS_PREFIX = "metastore."
"""What the names of the properties begin with that show it."""

# ACCESSTYPE_NONE, _READONLY, _WRITEONLY and _READWRITE of Hive 4's hive_metastore.thrift.
_WORDS = {1: "none", 2: "read only", 4: "write only", 8: "read and write"}


@dataclass(frozen=True, slots=True)
class TableAccess(Serializable):
    """What this client may do with a table, and what the table asks of those who do (HIVE-21663).

    Releases before Hive 4, and metastores without the translation layer, record none of it.

    Attributes:
        kind: The metastore's number of what this client may do; ``None`` where it is not recorded.
        to_read: Capabilities that a reader needs, by Hive's names.
        to_write: Capabilities that a writer needs.
    """

    kind: int | None = None
    to_read: tuple[str, ...] = ()
    to_write: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What this client may do: ``none``, ``read only``, ``write only`` or ``read and write``; empty if unknown."""
        return "" if self.kind is None else _WORDS.get(self.kind, f"of the unknown kind {self.kind}")

    @property
    def readable(self) -> bool:
        """Whether the metastore lets this client read; so where it does not say otherwise."""
        return self.words not in ("none", "write only")

    def properties(self) -> dict[str, str]:
        """What is known, as properties that people are shown."""
        known = {
            "access-type": self.words,
            "required-read-capabilities": _joined(self.to_read),
            "required-write-capabilities": _joined(self.to_write),
        }
        return {ACCESS_PREFIX + name: text for name, text in known.items() if text}


def _joined(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
