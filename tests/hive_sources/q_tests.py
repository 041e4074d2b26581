"""Hive's own q-tests: the statements of a test, and what Hive printed for each of them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Step", "q_test_names", "q_test_zone", "read_q_test", "statements"]

_QUERIES = "ql/src/test/queries/clientpositive"
_RESULTS = ("ql/src/test/results/clientpositive/llap", "ql/src/test/results/clientpositive")
_MASKED = "#### A masked pattern was here ####"
_ZONE = re.compile(r"^--! ?qt:timezone:(\S+)", re.MULTILINE)
_DATASETS = re.compile(r"^--! ?qt:dataset:(.*)$", re.MULTILINE)
_OVER_FILES = re.compile(r"data/files/|^--! ?qt:dataset:", re.MULTILINE)
_EVOLVED = re.compile(r"\breplace\s+columns\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Step:
    """A statement.

    Attributes:
        text: Without comments and the semicolon.
        lines: What Hive printed; ``None`` where nothing is known of it.
    """

    text: str
    lines: tuple[str, ...] | None = None


def q_test_names(sources: Path) -> list[str]:
    """The q-tests over ``data/files``, and those that replace columns, of which the results are there."""
    found = []
    for file in sorted((sources / _QUERIES).glob("*.q")):
        text = file.read_text(errors="replace")
        if (_OVER_FILES.search(text) or _EVOLVED.search(text)) and _results(sources, file.stem) is not None:
            found.append(file.stem)
    return found


def q_test_zone(sources: Path, name: str) -> str:
    """The zone that a q-test runs in: its own, or the one of Hive's build."""
    found = _ZONE.search((sources / _QUERIES / f"{name}.q").read_text(errors="replace"))
    return "America/Los_Angeles" if found is None else found[1]


def read_q_test(sources: Path, name: str) -> list[Step]:
    """The steps of a q-test, after those that make the tables of the data sets it names."""
    text = (sources / _QUERIES / f"{name}.q").read_text(errors="replace")
    steps = []
    for names in _DATASETS.findall(text):
        for one in re.split(r"[,\s]+", names.strip()):
            script = sources / "data" / "files" / "datasets" / one / "load.hive.sql"
            if script.is_file():
                steps += [Step(statement) for statement in statements(script.read_text())]
    results = _results(sources, name)
    printed = deque(_printed("" if results is None else results.read_text(errors="replace")))
    for statement in statements(text):
        # Statements such as SET print nothing, so that what is printed belongs to the next one of its text.
        at = next((at for at, (query, _) in enumerate(printed) if query == _plain(statement)), None)
        lines = None
        for _ in range(0 if at is None else at + 1):
            lines = printed.popleft()[1]
        steps.append(Step(statement, lines))
    return steps


def statements(text: str) -> Iterator[str]:
    """Cuts a script at the semicolons that are in no quotes and no comment."""
    held: list[str] = []
    for part in re.findall(r"--[^\n]*|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|;|[^;'\"`-]+|.", text, re.DOTALL):
        if part == ";":
            statement = "".join(held).strip()
            held.clear()
            if statement:
                yield statement
        elif not part.startswith("--"):
            held.append(part)
    if "".join(held).strip():
        yield "".join(held).strip()


def _results(sources: Path, name: str) -> Path | None:
    return next((file for folder in _RESULTS if (file := sources / folder / f"{name}.q.out").is_file()), None)


def _printed(text: str) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """The statements of a result file, and the lines that follow the words of Hive's hook about each."""
    for part in re.split(r"^PREHOOK: query: ", text, flags=re.MULTILINE)[1:]:
        before, _, after = part.partition("POSTHOOK: query: ")
        query = _plain(re.split(r"^PREHOOK: ", before, maxsplit=1, flags=re.MULTILINE)[0])
        # The statement again, then what the hook says of it, then the answer.
        hook = re.search(r"^POSTHOOK: ", after, re.MULTILINE)
        lines = deque(after[hook.start() :].splitlines() if hook else ())
        while lines and (lines[0].startswith("POSTHOOK: ") or lines[0] == _MASKED):
            lines.popleft()
        answer = tuple(line for line in lines if not line.startswith(("Warning: ", "WARNING: ")))
        yield query, None if hook is None or any(_MASKED in line for line in answer) else answer


def _plain(statement: str) -> str:
    return " ".join(re.sub(r"--[^\n]*", "", statement).split())
