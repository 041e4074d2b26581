"""Where tests find tables that others wrote."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TABLES = Path(os.environ.get("CONNECTOR_TEST_TABLES", PROJECT.parent / "shared" / "tables")).resolve()
CORPUS = Path(os.environ.get("CONNECTOR_TEST_CORPUS", PROJECT.parent / "shared" / "corpus")).resolve()
