"""For authors of connectors: the conformance suite, and a reader that drives a connector as the engine does.

Needs pytest and hypothesis.
"""

import connector_spi.testing.assert_rewriting  # noqa: F401  imported for what it does
from connector_spi.testing.base import ConformanceBase, assert_same_rows
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.conformance import ConnectorConformance
from connector_spi.testing.fixed_checks import FixedTablesConformance
from connector_spi.testing.reading import ReferenceQuery, ReferenceScan, read_table, rows_that_fit

__all__ = [
    "Behaviour",
    "ConformanceBase",
    "ConnectorConformance",
    "FixedTablesConformance",
    "ReferenceQuery",
    "ReferenceScan",
    "assert_same_rows",
    "read_table",
    "rows_that_fit",
]
