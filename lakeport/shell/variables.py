r"""Variables of the shell: ``\set name value``, then ``:name``, ``:'name'`` and ``:"name"`` in statements."""

from __future__ import annotations

import re
from collections.abc import Mapping

from connector_spi.names import quote_identifier
from lakeport.shell.sql.statements import tokens

__all__ = ["interpolate"]

_NAME = re.compile(r"\w+")
_TIGHT = re.compile(r"[\w:)\]`'\"]$")


def interpolate(text: str, variables: Mapping[str, str], dialect: str = "spark") -> str:
    """A statement with variables replaced by their values.

    ``:name`` becomes the value itself, ``:'name'`` a string literal, ``:"name"`` a quoted identifier. Unset names do
    not change, nor does text in quotes and comments, a cast ``x::int``, or a field of a variant, ``v:field``.

    Args:
        text: The statement.
        variables: Values by their names.
        dialect: Of the statement, by which its literals and names are quoted.
    """
    if not variables or ":" not in text:
        return text
    pieces: list[str] = []
    colon = False
    for token in tokens(text):
        written = text[token.start : token.stop]
        if colon:
            colon = False
            value = _value(written, token.kind, variables, dialect)
            if value is not None:
                pieces[-1] = value
                continue
        colon = written == ":" and not (pieces and _TIGHT.search(pieces[-1]))
        pieces.append(written)
    return "".join(pieces)


def _value(written: str, kind: str, variables: Mapping[str, str], dialect: str) -> str | None:
    if kind == "word":
        return variables.get(written)
    if kind != "text" or written[1:-1] not in variables or not _NAME.fullmatch(written[1:-1]):
        return None
    value = variables[written[1:-1]]
    if written[0] not in "'\"":
        return None
    if dialect != "spark":
        # A backslash is a character there.
        return written[0] + value.replace(written[0], 2 * written[0]) + written[0]
    if written[0] == '"':
        return quote_identifier(value)
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
