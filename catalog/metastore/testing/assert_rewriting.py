"""Has pytest explain the asserts of the suite as it does those of test files; imported before the checks are."""

import pytest

pytest.register_assert_rewrite("catalog.metastore.testing.reading_checks", "catalog.metastore.testing.writing_checks")
