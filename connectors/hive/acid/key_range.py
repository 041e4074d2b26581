"""The range of keys in each stripe, by the key index of Hive's writers (``OrcRecordUpdater``). Executor side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connectors.toolkit.orc.footer import OrcFooter

__all__ = ["ALL_KEYS", "Key", "KeyRange", "stripe_ranges"]

Key = tuple[int, int, int]
"""Write id, bucket property and row id: the sort order of ACID files."""

_INDEX = "hive.acid.key.index"
_JAVA_WRITER = 0


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Keys from ``low`` to ``high``, both inclusive; ``None`` is no bound."""

    low: Key | None = None
    high: Key | None = None

    def overlaps(self, other: KeyRange) -> bool:
        """Whether a key may be in both."""
        above = self.high is not None and other.low is not None and self.high < other.low
        below = self.low is not None and other.high is not None and other.high < self.low
        return not above and not below


ALL_KEYS = KeyRange()


def stripe_ranges(footer: OrcFooter) -> tuple[KeyRange, ...]:
    """The range of keys that each stripe of an ACID file can hold.

    The index has the last key of each stripe. It is used only where it has an entry for each stripe (some writers
    leave the last one out), its keys ascend, and Hive's library wrote the file: other writers did not sort by key.
    """
    keys = _index_keys(footer)
    count = len(footer.stripes)
    if footer.writer != _JAVA_WRITER or len(keys) != count or list(keys) != sorted(keys):
        return (ALL_KEYS,) * count
    # A key may occur twice, also across two stripes: so the bound is the last key before, not the one after it.
    return tuple(KeyRange(keys[at - 1] if at else None, keys[at]) for at in range(count))


def _index_keys(footer: OrcFooter) -> Sequence[Key]:
    text = dict(footer.metadata).get(_INDEX, b"").decode("ascii", "replace")
    keys: list[Key] = []
    for entry in filter(None, text.split(";")):
        parts = entry.split(",")
        try:
            write_id, bucket, row_id = (int(part) for part in parts)
        except ValueError:
            return ()
        keys.append((write_id, bucket, row_id))
    return keys
