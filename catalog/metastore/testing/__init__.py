"""For authors of metastores: the conformance suite. Needs pytest."""

import catalog.metastore.testing.assert_rewriting  # noqa: F401  imported for what it does
from catalog.metastore.testing.base import MetastoreConformanceBase
from catalog.metastore.testing.conformance import MetastoreConformance

__all__ = ["MetastoreConformance", "MetastoreConformanceBase"]
