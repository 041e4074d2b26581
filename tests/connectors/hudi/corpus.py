"""The corpus of tables that real Hudi wrote: cases, their tables, and real Hudi's answers."""

from __future__ import annotations

import re
import zipfile
from functools import cache
from json import loads
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.paths import CORPUS

HUDI = CORPUS / "hudi"
CASES = sorted(path.stem for path in HUDI.glob("*.zip"))


@cache
def answers(case: str, query: str) -> tuple[str, ...]:
    """What was asked of a case beyond the name of a query, such as the instants of ``asof``; refused ones, too."""
    return tuple(name.removeprefix(f"{query}_") for name in _recorded_answers(case) if name.startswith(f"{query}_"))


def refused(case: str, query: str) -> bool:
    """Whether Hudi itself gave an error."""
    return "error" in _recorded_answers(case)[query]


def expected(case: str, query: str) -> pa.Table:
    """Hudi's rows."""
    query = "snapshot" if _recorded_answers(case)[query].get("same_as_snapshot") else query
    return pq.read_table(HUDI / f"{case}.expected_{query}.parquet")


def find_bootstrapped(table: Path) -> None:
    """Lets a bootstrapped table find its original files, which were unpacked beside it."""
    source, properties = table.parent / f"{table.name}_src", table / ".hoodie" / "hoodie.properties"
    if source.is_dir():
        text = re.sub("(?m)^(hoodie.bootstrap.base.path=).*$", rf"\g<1>{source}", properties.read_text())
        properties.write_text(text)


def opened(case: str, folder: Path) -> HudiCatalog:
    """A catalog in which the table of a case is ``s.t``."""
    with zipfile.ZipFile(HUDI / f"{case}.zip") as packed:
        packed.extractall(folder / "table")
    [table] = [path for path in (folder / "table").iterdir() if (path / ".hoodie").is_dir()]
    find_bootstrapped(table)
    catalog = make_catalog(folder)
    catalog.register(table)
    return catalog


@cache
def _recorded_answers(case: str) -> dict[str, dict[str, object]]:
    """What the case's writer says of each of Hudi's answers."""
    answers: dict[str, dict[str, object]] = loads((HUDI / f"{case}.json").read_text())["expected"]
    return answers
