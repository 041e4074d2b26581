"""What the README, the tutorial and the page of Spark sessions show is what happens.

Their commands and their Python are run, and the output is compared.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hms import why_not
from tests.lakeport.demo.command import LAKEPORT, run_lakeport
from tests.paths import PROJECT

PAGES = (*sorted(PROJECT.glob("*.md")), *sorted((PROJECT / "docs").rglob("*.md")))
HOME = "/home/ann"
README = (PROJECT / "README.md").read_text(encoding="utf-8")


# What each page has: the rest of them would test nothing.
COMMANDS = ("README.md", "docs/tutorial.md")
PYTHON = ("docs/tutorial.md", "docs/spark.md", "docs/index.md")


@pytest.fixture(scope="module")
def name(request: pytest.FixtureRequest) -> str:
    """A page."""
    return str(request.param)


@pytest.fixture(scope="module")
def shown(name: str) -> str:
    """The text of the page."""
    return (PROJECT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def home(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the reader of the page is: who reads a page without commands has run those of the README."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.getbasetemp() / Path(name if name in COMMANDS else "README.md").stem
    folder.mkdir(exist_ok=True)
    return folder


def blocks(page: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def commands(page: str) -> Iterator[tuple[str, str]]:
    """Each command of the page with its output, in which a line of three dots stands for any lines."""
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def pattern(shown: str, home: Path) -> str:
    lines = ["(?:.*\n)*?" if line == "..." else re.escape(line.replace(HOME, str(home))) + "\n"
             for line in shown.splitlines()]  # fmt: skip
    return "".join(lines)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("name", COMMANDS, indirect=True)
def test_commands_print_what_is_shown(shown: str, home: Path) -> None:
    all_commands = list(commands(shown))
    assert [command.split()[1] for command, _ in all_commands][:1] == ["demo"]
    for command, output in all_commands:
        program, *arguments = shlex.split(command)
        assert program == "lakeport"
        done = run_lakeport(*arguments, folder=home)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(pattern(output, home), done.stdout), f"{command}\n{done.stdout}"


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("name", PYTHON, indirect=True)
def test_python_prints_what_is_shown(shown: str, home: Path) -> None:
    if not (home / "lakeport-warehouse").exists():
        assert run_lakeport("demo", folder=home).returncode == 0
    examples = blocks(shown, "pycon")
    assert examples
    (home / "examples.txt").write_text("\n".join(examples), encoding="utf-8")
    # Spark would start its Python tasks by what this names, or else by the python3 of the PATH, which has no Lakeport.
    environment = {key: value for key, value in os.environ.items() if key != "PYSPARK_PYTHON"}
    command = [sys.executable, "-m", "doctest", "examples.txt"]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr[-2000:]


@pytest.mark.parametrize("target", re.findall(r"^make ([a-z-]+)", README, re.MULTILINE))
def test_targets_are_those_of_the_makefile(target: str) -> None:
    assert re.search(rf"^{target}:.*## ", (PROJECT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_command_is_installed() -> None:
    assert LAKEPORT.is_file()
