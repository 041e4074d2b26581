"""Other names for the catalogs that a text names."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence

from connector_spi.names import quote_identifier

__all__ = ["catalogs_in", "with_catalogs_renamed"]

# What may hold a name without being one comes first: texts (raw ones have no escapes), comments.
_TOKEN = re.compile(
    r"""(?P<raw>[rR](?:'[^']*'|"[^"]*"))|(?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")"""
    r"""|(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<name>`(?:[^`]|``)*`|\w+)|(?P<blank>\s+)|(?P<other>.)""",
    re.DOTALL,
)


def catalogs_in(text: str, known: Collection[str]) -> set[str]:
    """The catalogs that a query in Spark's SQL names.

    Args:
        text: The query.
        known: Names of catalogs.
    """
    return {name for _, name in _catalogs(_tokens(text), known)}


def with_catalogs_renamed(text: str, names: Mapping[str, str]) -> str:
    """A query in Spark's SQL that names catalogs otherwise: wherever one is the first of three names or more.

    Args:
        text: The query.
        names: The new names by the old ones.
    """
    tokens = _tokens(text)
    words = [word for _, word in tokens]
    for at, name in _catalogs(tokens, names):
        words[at] = quote_identifier(names[name])
    return "".join(words)


def _tokens(text: str) -> list[tuple[str, str]]:
    return [(match.lastgroup or "", match.group()) for match in _TOKEN.finditer(text)]


def _catalogs(tokens: Sequence[tuple[str, str]], known: Container[str]) -> Iterator[tuple[int, str]]:
    """Where the first of three names is that of a catalog, and which."""
    meant = [at for at, (kind, _) in enumerate(tokens) if kind not in ("blank", "comment")]
    for place, at in enumerate(meant):
        kind, word = tokens[at]
        name = word[1:-1].replace("``", "`") if word.startswith("`") else word
        if kind != "name" or name not in known or (place and tokens[meant[place - 1]][1] == "."):
            continue
        following = [tokens[one] for one in meant[place + 1 : place + 5]]
        if [one for _, one in following[::2]] == [".", "."] and [one for one, _ in following[1::2]] == ["name"] * 2:
            yield at, name
