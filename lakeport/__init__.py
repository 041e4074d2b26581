"""Lakeport: Hive and Hudi tables in Python and Spark by catalog name."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeport.arrow.scan_request import Exclusive
    from lakeport.connection import connect
    from lakeport.frames.table_scan import TableScan
    from lakeport.session import Session
    from lakeport.spark.catalog.install import install
    from lakeport.version import VERSION

__all__ = ["VERSION", "Exclusive", "Session", "TableScan", "connect", "install"]

# Names are looked up on first use (PEP 562): a task imports parts of this package and must not load the driver's side,
# and reading Arrow must not load PySpark.
_HOMES = {
    "VERSION": "lakeport.version",
    "Session": "lakeport.session",
    "connect": "lakeport.connection",
    "Exclusive": "lakeport.arrow.scan_request",
    "TableScan": "lakeport.frames.table_scan",
    "install": "lakeport.spark.catalog.install",
    # %load_ext lakeport
    "load_ipython_extension": "lakeport.notebook.magics",
}


# Type checkers would take it for the type of every name, of mistyped ones too.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'lakeport' has no attribute '{name}'")
        return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
