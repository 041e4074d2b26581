"""Runs the command ``lakeport`` as a user does, and reads the tables that it prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

LAKEPORT = Path(sys.executable).with_name("lakeport")
PROMPT = "sql> "
_FOOTER = re.compile(r"\(\d+ rows?\)")


def run_lakeport(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the command in ``folder``, where its state goes too."""
    environment = {**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "NO_COLOR": "1"}
    return subprocess.run(
        [str(LAKEPORT), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def outputs(text: str) -> dict[str, list[str]]:
    """What the tour printed, by statement: the lines up to the next empty one."""
    found: dict[str, list[str]] = {}
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("-- ")]
        if not lines or not lines[0].startswith(PROMPT):
            continue
        end = next(index for index, line in enumerate(lines) if line.endswith(";"))
        statement = "\n".join(line[len(PROMPT) :] for line in lines[: end + 1])
        found[statement.removesuffix(";")] = lines[end + 1 :]
    return found


def rows(lines: list[str]) -> list[tuple[str, ...]]:
    """The cells of a printed table."""
    cells = [line for line in lines[2:] if not _FOOTER.fullmatch(line)]
    return [tuple(cell.strip() for cell in line.split(" | ")) for line in cells]
