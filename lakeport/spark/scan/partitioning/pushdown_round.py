"""The scans of one query, as far as they are planned together, and what they have in common."""

from __future__ import annotations

import threading

from lakeport.spark.scan.partitioning.table_layout import TableLayout

__all__ = ["PushdownRound"]


class PushdownRound:
    """The scans that one run of Spark's optimizer builds: it makes all builders before it pushes anything into one.

    Where a query has several scans, one may be read by what a filter leaves of another (dynamic partition pruning,
    Bloom filters). Spark tries that only where it sees the filter in its own plan (``PartitionPruning``).
    """

    _of_thread = threading.local()

    def __init__(self) -> None:
        self._scans = 0
        self._pushes = False
        self._layouts: list[TableLayout] = []

    @classmethod
    def join(cls, layout: TableLayout | None = None) -> PushdownRound:
        """The round that a new builder belongs to: a run of the optimizer stays in one thread.

        Args:
            layout: How the rows of the builder's table lie; ``None`` where no join may go by it.
        """
        found: PushdownRound | None = getattr(cls._of_thread, "round", None)
        if found is None or found._pushes:
            found = cls._of_thread.round = cls()
        found._scans += 1
        if layout is not None:
            found._layouts.append(layout)
        return found

    def begin_pushing(self) -> None:
        """No builder belongs to it from now on."""
        self._pushes = True

    @property
    def is_alone(self) -> bool:
        """There is one scan of ours in the query."""
        return self._scans == 1

    def others(self, layout: TableLayout) -> list[TableLayout]:
        """How the rows of the other tables lie; a table that is read twice has two layouts."""
        return [one for one in self._layouts if one is not layout]
