"""Pages are read at speed: short lines, cells and paragraphs, and the field's words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import PROJECT

_FOLDERS = ("catalog", "connector_spi", "connectors", "docs", "lakeport", "tests")
_PAGES = (
    *sorted(PROJECT.glob("*.md")),
    *(page for name in _FOLDERS for page in sorted((PROJECT / name).rglob("*.md"))),
)
# Their words come from the code, which `make docs` copies.
_GENERATED = ("errors.md", "properties.md")
_LINE, _CELL, _PARAGRAPH = 120, 200, 5
_ODD_WORDS = re.compile(
    r"\b(?:by (?:its |their )?places?|in vain|left aside|told|nobody|lets? go|letting go|absent)\b", re.IGNORECASE
)
# A paragraph ends at a blank line, and where one of these begins.
_OPENING = re.compile(r"\s*(?:[-*] |\d+\. |#|\||<!--|```|$)")


def _prose(page: Path) -> Iterator[tuple[int, str]]:
    """The lines outside code blocks, with their numbers."""
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield number, ""
        elif not fenced and not line.startswith("    "):
            yield number, line


def _cells(row: str) -> list[str]:
    """The cells as they are read, without the targets of links."""
    return [re.sub(r"\]\([^)]*\)", "]", cell).strip() for cell in re.split(r"(?<!\\)\|", row)]


def _too_long(line: str) -> bool:
    if line.startswith("|"):
        return any(len(cell) > _CELL for cell in _cells(line))
    # A line of one link has no place to be broken at.
    return len(line) > _LINE and len(line.split()) > 2


def _long_paragraphs(page: Path) -> Iterator[int]:
    length = 0
    for number, line in _prose(page):
        length = length + 1 if length and not _OPENING.match(line) else int(bool(line) and not line.startswith("|"))
        if length == _PARAGRAPH + 1:
            yield number


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_lines_cells_and_paragraphs_are_short(page: Path) -> None:
    assert [f"line {number}" for number, line in _prose(page) if _too_long(line)] == []
    assert [f"paragraph at line {number}" for number in _long_paragraphs(page)] == []


@pytest.mark.parametrize(
    "page", [page for page in _PAGES if page.name not in _GENERATED], ids=lambda page: str(page.relative_to(PROJECT))
)
def test_words_are_the_field_s_own(page: Path) -> None:
    found = [(number, match.group()) for number, line in _prose(page)
             for match in _ODD_WORDS.finditer(re.sub(r"`[^`]*`", "", line))]  # fmt: skip
    assert found == []


def test_codes_of_errors_exist() -> None:
    known = set(re.findall(r"^\| `([A-Z_]+)` \|", (PROJECT / "docs" / "errors.md").read_text("utf-8"), re.MULTILINE))
    named = {
        code for page in _PAGES for code in re.findall(r"`((?:HIVE|HUDI|METASTORE)_[A-Z_]+)`", page.read_text("utf-8"))
    }
    assert named - known == set()
