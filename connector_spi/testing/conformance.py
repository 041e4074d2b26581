"""The suite that a connector passes.

Subclass in a test module, name the class ``Test...``::

    class TestMyConnector(ConnectorConformance):
        missing_behaviours = frozenset({Behaviour.TIME_TRAVEL, Behaviour.SYSTEM_TABLES})

        def factory(self) -> ConnectorFactory:
            return MyFactory()

        def create_table(self, name, data, partitioned_by) -> None:
            ...
"""

from __future__ import annotations

from connector_spi.testing.checks.changes import ChangesChecks
from connector_spi.testing.checks.creating import CreatingChecks
from connector_spi.testing.checks.expression import ExpressionChecks
from connector_spi.testing.checks.failure import FailureChecks
from connector_spi.testing.checks.lifecycle import LifecycleChecks
from connector_spi.testing.checks.merging import MergingChecks
from connector_spi.testing.checks.missing import MissingChecks
from connector_spi.testing.checks.opening import OpeningChecks
from connector_spi.testing.checks.query import QueryChecks
from connector_spi.testing.checks.streaming import StreamingChecks
from connector_spi.testing.checks.task import TaskChecks
from connector_spi.testing.checks.writing import WritingChecks

__all__ = ["ConnectorConformance"]


class ConnectorConformance(
    MissingChecks,
    QueryChecks,
    ExpressionChecks,
    FailureChecks,
    TaskChecks,
    LifecycleChecks,
    ChangesChecks,
    StreamingChecks,
    WritingChecks,
    CreatingChecks,
    MergingChecks,
    OpeningChecks,
):
    """All checks; see ConformanceBase for the hooks, and Behaviour for what may be missing."""
