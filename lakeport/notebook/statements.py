"""The statements of a cell, and their errors as a notebook shows them."""

from __future__ import annotations

import sys

from connector_spi.errors import ConnectorError
from lakeport.shell.diagnosis import diagnose
from lakeport.shell.problems import render
from lakeport.shell.sql.source_text import SourceText
from lakeport.shell.sql.statements import split_statements

__all__ = ["cell_statements", "shown_briefly", "statement_errors"]

# IPython shows what this method of an error returns in place of a traceback.
_RENDER = "_render_traceback_"


def cell_statements(text: str) -> list[SourceText]:
    """The statements of a text, in order; semicolons are between them, and may be at the end."""
    split = split_statements(text)
    found: list[SourceText] = []
    position = 0
    for statement in (*split.statements, *([split.rest] if split.rest else [])):
        start = text.index(statement, position)
        position = start + len(statement)
        found.append(SourceText(text, start, statement))
    return found


def statement_errors() -> tuple[type[Exception], ...]:
    """What a statement fails with; those of PySpark are known once it is imported."""
    if "pyspark" not in sys.modules:
        return (ConnectorError,)
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return ConnectorError, PySparkException, Py4JError


def shown_briefly(error: Exception, source: SourceText) -> Exception:
    """The same error, of which IPython shows the message, the place in the SQL and what may help.

    Args:
        error: The error.
        source: The statement that failed.
    """
    lines = render(diagnose(error, source), source, colours=True).splitlines()
    setattr(error, _RENDER, lambda: lines)
    return error.with_traceback(None)
