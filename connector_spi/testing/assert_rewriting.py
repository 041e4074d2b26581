"""Has pytest explain the asserts of the suite as it does those of test files; imported before the checks are."""

import pytest

_CHECKS = (
    "base",
    "changes_checks",
    "exactness_checks",
    "failure_checks",
    "fixed_checks",
    "lifecycle_checks",
    "metadata_checks",
    "missing_checks",
    "other_process",
    "pushdown_checks",
    "reading_checks",
    "streaming_checks",
    "task_checks",
)

pytest.register_assert_rewrite(*(f"connector_spi.testing.{module}" for module in _CHECKS))
