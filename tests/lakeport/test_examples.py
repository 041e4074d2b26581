"""The examples of docstrings and of docs/python.md are run, over the tables of the demo."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from pathlib import Path

import pytest

import lakeport.frames.table_scan
import lakeport.session
from lakeport.session import Session
from tests.lakeport.sample_session import sample_session
from tests.paths import PROJECT

PLAIN = doctest.DocTestFinder(exclude_empty=True)
EXAMPLES = [
    example
    for module in (lakeport.session, lakeport.frames.table_scan)
    for example in PLAIN.find(module)
    if example.examples
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with sample_session(tmp_path_factory.mktemp("warehouse")) as made:
        yield made


def run(example: doctest.DocTest, session: Session) -> None:
    told: list[str] = []
    example.globs = {"session": session}
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=told.append)
    assert found.failed == 0, "".join(told)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
def test_docstrings(example: doctest.DocTest, session: Session) -> None:
    run(example, session)


def test_the_page_of_python(session: Session) -> None:
    page: Path = PROJECT / "docs" / "python.md"
    text = page.read_text(encoding="utf-8").replace("```", "")
    run(doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0), session)
