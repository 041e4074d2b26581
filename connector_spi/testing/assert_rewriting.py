"""Has pytest explain the asserts of the suite as it does those of test files; imported before the checks are."""

import pytest

_MODULES = ("base", "checks", "fixed_checks", "other_process", "shared_checks")

pytest.register_assert_rewrite(*(f"connector_spi.testing.{module}" for module in _MODULES))
