"""``lakeport demo``: the sample warehouse, and a tour through it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from connector_spi.errors import InternalError
from lakeport.default_catalogs import DEFAULT_WAREHOUSE
from lakeport.shell.output.formats import FORMATS
from lakeport.shell.problems import headline
from lakeport.shell.running import Runner, open_session
from lakeport.shell.subcommands.arguments import Commands

if TYPE_CHECKING:
    from lakeport.demo.tour import Step

__all__ = ["add_demo_command"]


def add_demo_command(commands: Commands) -> None:
    """Declares the command."""
    command = commands.add_parser(
        "demo",
        help="unpack a sample warehouse, and run a tour in SQL through it",
        description="Unpacks a few tables that real Hive and real Hudi wrote, registers them in an embedded metastore, "
        "and runs a tour in SQL. It can be repeated.",
    )
    command.add_argument(
        "--warehouse",
        metavar="DIR",
        type=Path,
        default=DEFAULT_WAREHOUSE,
        help=f"where to unpack the tables (default: {DEFAULT_WAREHOUSE})",
    )
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    # Unpacking the tables loads the metastores; no other command needs them here.
    from lakeport.demo.sample_warehouse import prepare
    from lakeport.demo.tour import tour

    warehouse = prepare(arguments.warehouse)
    out = sys.stdout.buffer
    with open_session(str(warehouse.catalogs), debug=arguments.debug) as session:
        runner = Runner(session, out)
        why = ""
        for step in tour(warehouse):
            if step.why != why:
                why = step.why
                out.write(f"-- {why}\n".encode())
            statement = step.sql.replace("\n", "\n     ")
            out.write(f"sql> {statement};\n".encode())
            out.flush()
            _run_step(runner, step, out)
            out.write(b"\n")
            out.flush()
    program = Path(sys.argv[0])
    shell = program if program.name == "lakeport" else "lakeport"
    command = f"{shell} shell --catalogs {_short(warehouse.catalogs)}"
    out.write(f"That was the tour. Continue on your own:\n  {command}\n".encode())
    return 0


def _run_step(runner: Runner, step: Step, out: BinaryIO) -> None:
    try:
        runner.run(step.sql, FORMATS["aligned"])
    except Exception as error:
        if not step.fails:
            raise
        out.write(f"error: {headline(error)}\n".encode())
        return
    if step.fails:
        raise InternalError(f"the statement should have been refused: {step.sql}")


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
