"""Functions of texts and bytes. Spark counts characters by code points, and so do these functions of DuckDB."""

from __future__ import annotations

from sqlglot import exp

from lakeport.duckdb.functions.function import ERROR, Function, Functions, error_text
from lakeport.duckdb.refusal import refused

__all__ = ["TEXT_FUNCTIONS"]

# Characters whose capital or small letters differ between Java and DuckDB (all of them were compared), or change
# between versions of Unicode.
_UPPER = (
    r"[\x{149}\x{19b}\x{1f0}\x{264}\x{390}\x{3b0}\x{587}\x{1c80}-\x{1c8f}\x{1e96}-\x{1fff}\x{a7c0}-\x{a7ff}"
    r"\x{fb00}-\x{fb1f}\x{feff}\x{10000}-\x{1efff}]"
)
# At the end of a word Java has another small sigma.
_LOWER = r"[\x{130}\x{3a3}\x{1c80}-\x{1c8f}\x{a7c0}-\x{a7ff}\x{feff}\x{10000}-\x{1efff}]"
_LETTERS = error_text("UNSUPPORTED_LOCAL_SQL", f"capital and small letters of this text differ by engine; {ERROR}")
_ASCII_ONLY = error_text("UNSUPPORTED_LOCAL_SQL", f"a text of other than ASCII characters is turned; {ERROR}")
_PAIRS = error_text("UNSUPPORTED_LOCAL_SQL", f"a text of other than pairs of hexadecimal digits; {ERROR}")
_UPPER_CASE = Function("s", "VARCHAR", f"CASE WHEN regexp_matches(a, '{_UPPER}') THEN {_LETTERS} "
                       "ELSE upper(replace(a, 'ß', 'SS')) END")  # fmt: skip
_LOWER_CASE = Function("s", "VARCHAR", f"CASE WHEN regexp_matches(a, '{_LOWER}') THEN {_LETTERS} ELSE lower(a) END")
_POSITION = "CASE WHEN b = '' AND a IS NOT NULL THEN 1 ELSE instr(a, b) END"
_FOUND = (
    Function("ss", "INT", "CASE WHEN a = '' AND b IS NOT NULL THEN 1 ELSE instr(b, a) END"),
    Function("ssI", "INT", "CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN c < 1 THEN 0 WHEN a = '' THEN 1 "
             "WHEN instr(substring(b, c), a) = 0 THEN 0 "
             "ELSE instr(substring(b, c), a) + c - 1 END"),
)  # fmt: skip
_PAD = "CASE WHEN a IS NULL OR b IS NULL OR c IS NULL THEN NULL WHEN b <= 0 THEN '' WHEN c = '' OR length(a) >= b "
_PADDED = "THEN left(a, CAST(b AS BIGINT))"


def _one_character(node: exp.Anonymous) -> None:
    if len(node.expressions[1].name) != 1:
        raise refused(node, "a delimiter of other than one character")


def _not_empty(node: exp.Anonymous) -> None:
    if not node.expressions[1].name:
        raise refused(node, "an empty delimiter")


def _not_zero(node: exp.Anonymous) -> None:
    _not_empty(node)
    if not int(node.expressions[2].name or 1):
        raise refused(node, "there is no part 0; parts are counted from 1")


def _plain(node: exp.Anonymous) -> None:
    if any(not one.name.isascii() for one in node.expressions[1:]):
        raise refused(node, "characters that are not ASCII")


def _utf8(node: exp.Anonymous) -> None:
    if node.expressions[1].name.lower() not in ("utf-8", "utf8"):
        raise refused(node, "another encoding than UTF-8")


def _sha256(node: exp.Anonymous) -> None:
    if node.expressions[1].name not in ("0", "256"):
        raise refused(node, "another length than 256")


TEXT_FUNCTIONS: Functions = {
    **dict.fromkeys(("upper", "ucase"), (_UPPER_CASE,)),
    **dict.fromkeys(("lower", "lcase"), (_LOWER_CASE,)),
    "btrim": (Function("s", "VARCHAR", "trim(a, ' ')"), Function("ss", "VARCHAR", "trim(a, b)")),
    "ltrim": (Function("s", "VARCHAR", "ltrim(a, ' ')"), Function("ss", "VARCHAR", "ltrim(b, a)")),
    "rtrim": (Function("s", "VARCHAR", "rtrim(a, ' ')"), Function("ss", "VARCHAR", "rtrim(b, a)")),
    "replace": (
        Function("ss", "VARCHAR", "replace(a, b, '')"),
        Function("sss", "VARCHAR", "replace(a, b, c)"),
    ),
    "reverse": (Function("s", "VARCHAR", f"CASE WHEN strlen(a) <> length(a) THEN {_ASCII_ONLY} ELSE reverse(a) END"),),
    "repeat": (
        Function("si", "VARCHAR", "CASE WHEN b < 0 AND a IS NOT NULL THEN '' ELSE repeat(a, CAST(b AS BIGINT)) END"),
    ),
    "space": (Function("i", "VARCHAR", "CASE WHEN a < 0 THEN '' ELSE repeat(' ', CAST(a AS BIGINT)) END"),),
    "lpad": (
        Function("si", "VARCHAR", "lakeport_lpad_1(a, b, ' ')"),
        Function("sis", "VARCHAR", f"{_PAD}{_PADDED} ELSE lpad(a, CAST(b AS INT), c) END"),
    ),
    "rpad": (
        Function("si", "VARCHAR", "lakeport_rpad_1(a, b, ' ')"),
        Function("sis", "VARCHAR", f"{_PAD}{_PADDED} ELSE rpad(a, CAST(b AS INT), c) END"),
    ),
    "left": (Function("si", "VARCHAR", "CASE WHEN b <= 0 AND a IS NOT NULL THEN '' ELSE left(a, b) END"),),
    "right": (Function("si", "VARCHAR", "CASE WHEN b <= 0 AND a IS NOT NULL THEN '' ELSE right(a, b) END"),),
    "instr": (Function("ss", "INT", _POSITION),),
    "locate": _FOUND,
    "contains": (Function("ss", "BOOLEAN", "contains(a, b)"),),
    "startswith": (Function("ss", "BOOLEAN", "starts_with(a, b)"),),
    "endswith": (Function("ss", "BOOLEAN", "ends_with(a, b)"),),
    "substring_index": (
        Function("sSI", "VARCHAR", "CASE WHEN a IS NULL THEN NULL WHEN c = 0 THEN '' WHEN c > 0 THEN "
                 "array_to_string(list_slice(string_split(a, b), 1, c), b) ELSE "
                 "array_to_string(list_slice(string_split(a, b), greatest(len(string_split(a, b)) + c + 1, 1), "
                 "len(string_split(a, b))), b) END", check=_one_character),
    ),
    "split_part": (Function("sSI", "VARCHAR", "split_part(a, b, c)", check=_not_zero),),
    "translate": (Function("sSS", "VARCHAR", "translate(a, b, c)", check=_plain),),
    "ascii": (Function("s", "INT", "CASE WHEN a = '' THEN 0 ELSE ascii(a) END"),),
    # The last byte of the number, as a character of Latin-1.
    **dict.fromkeys(
        ("chr", "char"), (Function("i", "VARCHAR", "CASE WHEN a < 0 THEN '' ELSE chr(CAST(a & 255 AS INT)) END"),)
    ),
    "octet_length": (Function("s", "INT", "strlen(a)"), Function("x", "INT", "octet_length(a)")),
    "bit_length": (Function("s", "INT", "8 * strlen(a)"), Function("x", "INT", "8 * octet_length(a)")),
    **dict.fromkeys(
        ("length", "char_length", "character_length", "len"),
        (Function("s", "INT", "length(a)"), Function("x", "INT", "octet_length(a)")),
    ),
    "md5": (Function("s", "VARCHAR", "md5(a)"), Function("x", "VARCHAR", "md5(a)")),
    **dict.fromkeys(
        ("sha", "sha1"), (Function("s", "VARCHAR", "sha1(a)"), Function("x", "VARCHAR", "sha1(a)"))
    ),
    "sha2": (
        Function("sI", "VARCHAR", "sha256(encode(a))", check=_sha256),
        Function("xI", "VARCHAR", "sha256(a)", check=_sha256),
    ),
    "encode": (Function("sS", "BINARY", "encode(a)", check=_utf8),),
    "unhex": (
        Function("s", "BINARY", "CASE WHEN regexp_full_match(a, '([0-9a-fA-F]{2})*') THEN unhex(a) "
                 f"WHEN a IS NOT NULL THEN {_PAIRS} END"),
    ),
    "base64": (Function("s", "VARCHAR", "base64(encode(a))"), Function("x", "VARCHAR", "base64(a)")),
    "hex": (
        Function("s", "VARCHAR", "hex(encode(a))"),
        Function("x", "VARCHAR", "hex(a)"),
        Function("i", "VARCHAR", "hex(CAST(a AS BIGINT))"),
    ),
    "bin": (Function("i", "VARCHAR", "bin(CAST(a AS BIGINT))"),),
}  # fmt: skip
"""Functions of texts and bytes."""
