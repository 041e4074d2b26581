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

from connector_spi.testing.changes_checks import ChangesChecks
from connector_spi.testing.failure_checks import FailureChecks
from connector_spi.testing.lifecycle_checks import LifecycleChecks
from connector_spi.testing.missing_checks import MissingChecks
from connector_spi.testing.query_checks import QueryChecks
from connector_spi.testing.streaming_checks import StreamingChecks
from connector_spi.testing.task_checks import TaskChecks

__all__ = ["ConnectorConformance"]


class ConnectorConformance(
    MissingChecks, QueryChecks, FailureChecks, TaskChecks, LifecycleChecks, ChangesChecks, StreamingChecks
):
    """All checks; see ConformanceBase for the hooks, and Behaviour for what may be missing."""
