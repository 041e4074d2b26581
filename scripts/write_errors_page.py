"""Writes docs/errors.md from the codes of errors and the texts beside them: ``make docs``."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
PAGE = PROJECT / "docs" / "errors.md"
_PACKAGES = ("connector_spi", "connectors", "catalog", "lakeport")
_CONSTRUCTORS = {"ErrorCode": None, "_user": "USER_ERROR", "_external": "EXTERNAL"}
_WHO = {
    "USER_ERROR": "the statement or a setting",
    "EXTERNAL": "a server, a file or the network",
    "INSUFFICIENT_RESOURCES": "a limit was met",
    "INTERNAL_ERROR": "Lakeport; please report it",
}
_SECTIONS = (("HIVE_", "Hive tables"), ("HUDI_", "Hudi tables"), ("METASTORE_", "Metastores"), ("", "Everywhere"))
_HEAD = """# Errors, and the way out

Made from the codes' own texts by `make docs`; not edited by hand.

Every error begins with its code: `[TABLE_NOT_FOUND] no table hudi.sales.visit; did you mean visits?`.
In Python it is `error.code.name` of a `ConnectorError`, and `error.code.type` says who has to act.
The classes are drawn at the top of [errors.py](../connector_spi/errors.py).
The command ends with 1, 2 or 3: the statement or a limit, something outside, Lakeport.
"""


@dataclass(frozen=True, slots=True)
class DocumentedCode:
    """A code of an error, and what stands beside it.

    Attributes:
        name: As messages begin.
        type: The name of its ``ErrorType``.
        meaning: What it means and the way out; empty where nothing is written.
        where: File and line.
    """

    name: str
    type: str
    meaning: str
    where: str


def documented_codes() -> list[DocumentedCode]:
    """All codes of the packages, by name; one that stands in several places with the text that it has there."""
    found: dict[str, DocumentedCode] = {}
    for package in _PACKAGES:
        for path in sorted((PROJECT / package).rglob("*.py")):
            for code in _codes(path):
                if code.meaning or code.name not in found:
                    found[code.name] = code
    return [found[name] for name in sorted(found)]


def errors_page() -> str:
    """The whole page."""
    left = documented_codes()
    parts = [_HEAD]
    for prefix, title in _SECTIONS:
        here = [code for code in left if code.name.startswith(prefix)]
        left = [code for code in left if not code.name.startswith(prefix)]
        rows = [f"| `{code.name}` | {_WHO[code.type]} | {code.meaning.replace('``', '`')} |" for code in here]
        parts += [
            f"## {title}",
            "\n".join(["| code | whose side | meaning, and the way out |", "|---|---|---|", *rows]),
        ]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _codes(path: Path) -> Iterator[DocumentedCode]:
    text = path.read_text(encoding="utf-8")
    # To parse every module takes seconds, and few have codes.
    found = ast.walk(ast.parse(text)) if any(f"{name}(" in text for name in _CONSTRUCTORS) else ()
    for scope in found:
        if not isinstance(scope, (ast.Module, ast.ClassDef)):
            continue
        for statement, follower in zip_longest(scope.body, scope.body[1:]):
            name, kind = _code_of(statement)
            if name:
                meaning = ast.get_docstring(scope) if isinstance(scope, ast.ClassDef) else _text(follower)
                where = f"{path.relative_to(PROJECT)}:{statement.lineno}"
                yield DocumentedCode(name, kind, " ".join((meaning or "").split()), where)


def _code_of(statement: ast.stmt) -> tuple[str, str]:
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name) or value.func.id not in _CONSTRUCTORS:
        return "", ""
    name, *rest = value.args
    kind = _CONSTRUCTORS[value.func.id] or (rest[0].attr if rest and isinstance(rest[0], ast.Attribute) else "")
    return (name.value, kind) if isinstance(name, ast.Constant) and isinstance(name.value, str) else ("", "")


def _text(statement: ast.stmt | None) -> str:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return inspect.cleandoc(value.value) if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""


if __name__ == "__main__":
    PAGE.write_text(errors_page(), encoding="utf-8")
