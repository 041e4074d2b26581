"""Patterns of ``java.time.format.DateTimeFormatter``, as ``timestamp.formats`` has them. Executor side."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.text.civil_times import civil_times, text_field

__all__ = ["TimePattern", "time_pattern"]

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# Year 0 is none of an era.
_YEAR_OF_ERA = "[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9]"
_ZONE = "[A-Za-z][A-Za-z0-9+:/_-]*|[+-][0-9:]+"
_SHORT_OFFSET = "[+-][0-9]{2}(?:[0-9]{2})?"
_OFFSET = "[+-][0-9]{4}"
_LONG_OFFSET = "[+-][0-9]{2}:[0-9]{2}"
_LETTERS = {
    "yyyy": f"(?P<y>{_YEAR_OF_ERA})",
    "uuuu": "(?P<y>-?[0-9]{4})",
    "MM": "(?P<m>[0-9]{2})",
    "M": "(?P<m>[0-9]{1,2})",
    "MMM": f"(?P<m>{'|'.join(_MONTHS)})",
    "dd": "(?P<d>[0-9]{2})",
    "d": "(?P<d>[0-9]{1,2})",
    "HH": "(?P<h>[0-9]{2})",
    "H": "(?P<h>[0-9]{1,2})",
    "mm": "(?P<i>[0-9]{2})",
    "m": "(?P<i>[0-9]{1,2})",
    "ss": "(?P<s>[0-9]{2})",
    "s": "(?P<s>[0-9]{1,2})",
    "VV": f"(?P<z>{_ZONE})",
    "X": f"(?P<z>Z|{_SHORT_OFFSET})",
    "XX": f"(?P<z>Z|{_OFFSET})",
    "XXX": f"(?P<z>Z|{_LONG_OFFSET})",
    "x": f"(?P<z>{_SHORT_OFFSET})",
    "xx": f"(?P<z>{_OFFSET})",
    "xxx": f"(?P<z>{_LONG_OFFSET})",
    **dict.fromkeys(("Z", "ZZ", "ZZZ"), f"(?P<z>{_OFFSET})"),
}
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TimePattern:
    """A pattern.

    Attributes:
        regex: Finds the fields ``y``, ``m``, ``d``, ``h``, ``i``, ``s``, ``f`` (a fraction) and ``z`` (a zone).
        month_names: ``m`` is a name.
        timed: It has hours.
        zoned: It has a zone, or an offset.
        named_zones: The zone may be a name, and then an offset has its colon.
    """

    regex: str
    month_names: bool
    timed: bool
    zoned: bool
    named_zones: bool

    def read(self, texts: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Wall-clock times, NULL where a text does not fit, and their zones: names, or offsets with a colon."""
        fields = pc.extract_regex(texts, self.regex)
        if self.month_names:
            at = fields.type.get_field_index("m")
            numbers = pc.add(pc.index_in(text_field(fields, "m"), pa.array(_MONTHS)), 1).cast(pa.string())
            columns = [numbers if index == at else column for index, column in enumerate(fields.flatten())]
            fields = pa.StructArray.from_arrays(columns, [field.name for field in fields.type])
        wall, zones = civil_times(fields, smart=True), text_field(fields, "z")
        if not self.named_zones:
            zones = pc.replace_substring_regex(zones, "^([+-][0-9]{2})$", r"\1:00")
            zones = pc.replace_substring_regex(zones, "^([+-][0-9]{2})([0-9]{2})$", r"\1:\2")
        return wall, zones


def time_pattern(pattern: str, where: str) -> TimePattern:
    """Parses a pattern.

    Args:
        pattern: Such as ``yyyy-MM-dd'T'HH:mm:ssXXX``.
        where: Names the table for the message.

    Raises:
        NotSupportedError: A letter of the pattern is not understood.
    """
    parts = []
    for match in _TOKEN.finditer(pattern):
        token = match.group()
        if token in "[]{}#":
            raise _unknown(pattern, token, where)
        if match.group(2) is None:
            literal = (match.group(1) or "").replace("''", "'") or "'" if token.startswith("'") else token
            parts.append(re.escape(literal))
        elif token in _LETTERS:
            parts.append(_LETTERS[token])
        elif set(token) == {"S"} and len(token) <= 9:
            parts.append(f"(?P<f>[0-9]{{{len(token)}}})")
        else:
            raise _unknown(pattern, token, where)
    regex = f"^{''.join(parts)}$"
    names = re.findall(r"\?P<(.)>", regex)
    if "y" not in names or len(set(names)) < len(names):
        raise _unknown(pattern, pattern, where)
    return TimePattern(
        regex,
        month_names=_LETTERS["MMM"] in parts,
        timed="h" in names,
        zoned="z" in names,
        named_zones=_LETTERS["VV"] in parts,
    )


def _unknown(pattern: str, token: str, where: str) -> NotSupportedError:
    return NotSupportedError(
        f"{where} has {pattern!r} in timestamp.formats, of which {token!r} is not understood; expected yyyy, MM, dd, "
        "HH, mm, ss, S, VV, X, x, Z and literals, or millis, or iso8601: read the column as a string",
        error_codes.HIVE_UNSUPPORTED_FORMAT,
    )
