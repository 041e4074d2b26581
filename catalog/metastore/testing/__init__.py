"""For authors of metastores: the conformance suite. Needs pytest."""

import catalog.metastore.testing.assert_rewriting  # noqa: F401  imported for what it does
from catalog.metastore.testing.base import MetastoreConformanceBase
from catalog.metastore.testing.conformance import MetastoreConformance
from catalog.metastore.testing.reading_checks import ReadingChecks
from catalog.metastore.testing.writing_checks import WritingChecks

__all__ = ["MetastoreConformance", "MetastoreConformanceBase", "ReadingChecks", "WritingChecks"]
