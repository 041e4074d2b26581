"""The suite that a metastore passes.

Subclass in a test module, name the class ``Test...``::

    class TestMyMetastore(MetastoreConformance):
        @pytest.fixture
        def metastore(self, tmp_path: Path) -> Metastore:
            return assemble(MyMetastoreFactory().create(...))
"""

from __future__ import annotations

from catalog.metastore.testing.reading_checks import ReadingChecks
from catalog.metastore.testing.writing_checks import WritingChecks

__all__ = ["MetastoreConformance"]


class MetastoreConformance(ReadingChecks, WritingChecks):
    """All checks; see ``MetastoreConformanceBase`` for the hooks."""
