"""Hive's ``char(n)`` and ``varchar(n)``, which Arrow does not have: what reading does to their values.

A ``char(n)`` comes with exactly n characters, blanks at the end added or the rest cut off; a ``varchar(n)`` is cut
after n characters (Hive's ``HiveChar``, ``HiveVarchar``). Characters are code points.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.serializable import Serializable
from connectors.toolkit.schema.type_adaptation import map_nested

__all__ = ["TextRule", "apply_text_rule", "stored_text_rule", "text_rule"]

_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[^<>,:()`]+|[<>,:()])")


@dataclass(frozen=True, slots=True)
class TextRule(Serializable):
    """What happens to values of a type.

    Attributes:
        kind: ``char``, ``varchar``, ``stripped``, ``list``, ``map`` or ``struct``. ``stripped`` is a char that becomes
            something else: it is cut, and loses blanks at its end.
        length: Characters of a char or varchar.
        children: By field name of a struct; ``key`` and ``value`` of a map; ``element`` of a list. Those to which
            nothing happens are left out.
    """

    kind: str
    length: int = 0
    children: tuple[tuple[str, TextRule], ...] = ()


def text_rule(hive_type: str) -> TextRule | None:
    """The rule of a Hive type, or ``None`` where it holds no char or varchar.

    Args:
        hive_type: A valid type, such as ``array<struct<a:char(3),b:int>>``.
    """
    tokens = [match.group(1).strip() for match in _TOKEN.finditer(hive_type)]
    rule, _ = _parse([token for token in tokens if token], 0)
    return rule


def stored_text_rule(hive_type: str) -> TextRule | None:
    """The rule of a type in which a partition holds values that become those of another type."""
    rule = text_rule(hive_type)
    return None if rule is None else _stripped(rule)


def apply_text_rule(array: pa.Array, rule: TextRule) -> pa.Array:
    """Pads and cuts the texts of an array; nested types may be narrowed."""
    if rule.kind in ("char", "varchar", "stripped"):
        cut = pc.utf8_slice_codeunits(array, 0, rule.length)
        if rule.kind == "stripped":
            return pc.utf8_rtrim(cut, " ")
        return pc.utf8_rpad(cut, rule.length, " ") if rule.kind == "char" else cut
    known = dict(rule.children)
    if rule.kind == "struct":
        names = [field.name.lower() for field in array.type]
    else:
        names = ["element"] if rule.kind == "list" else ["key", "value"]

    def convert(children: Sequence[pa.Array]) -> list[pa.Array]:
        pairs = zip(names, children, strict=True)
        return [apply_text_rule(child, known[name]) if name in known else child for name, child in pairs]

    return map_nested(array, array.type, convert)


def _stripped(rule: TextRule) -> TextRule:
    kind = "stripped" if rule.kind == "char" else rule.kind
    return TextRule(kind, rule.length, tuple((name, _stripped(child)) for name, child in rule.children))


def _parse(tokens: Sequence[str], at: int) -> tuple[TextRule | None, int]:
    name = tokens[at].lower()
    at += 1
    arguments: list[str] = []
    if at < len(tokens) and tokens[at] == "(":
        end = tokens.index(")", at)
        arguments = [token for token in tokens[at + 1 : end] if token != ","]
        at = end + 1
    if name in ("char", "varchar"):
        return TextRule(name, int(arguments[0])), at
    if at >= len(tokens) or tokens[at] != "<":
        return None, at
    return _parse_children(name, tokens, at)


def _parse_children(name: str, tokens: Sequence[str], at: int) -> tuple[TextRule | None, int]:
    names = {"array": ["element"], "map": ["key", "value"]}.get(name)
    children: list[tuple[str, TextRule]] = []
    index = 0
    while tokens[at] != ">":
        at += 1
        if tokens[at] == ">":
            break
        if name == "uniontype":
            field, index = f"field{index}", index + 1
        elif names is None:
            field, at = tokens[at].strip("`").replace("``", "`").lower(), at + 2
        else:
            field, index = names[index], index + 1
        rule, at = _parse(tokens, at)
        if rule is not None:
            children.append((field, rule))
    kind = {"array": "list", "uniontype": "struct"}.get(name, name)
    return (TextRule(kind, 0, tuple(children)) if children else None), at + 1
