"""Which parts of a file may hold rows for which conditions are true: an OR over columns, fields of structs.

Executor side.
"""

from __future__ import annotations

from collections.abc import Sequence

from connector_spi.predicate import ConnectorExpression, Domain, Reference, may_be_true, references
from connector_spi.scan_counters import count
from connectors.toolkit.read.open_file import ColumnarFile
from connectors.toolkit.read.pruning import may_match

__all__ = ["fitting_parts"]


def fitting_parts(file: ColumnarFile, parts: Sequence[int]) -> list[int]:
    """The parts that may hold rows for which each condition of the read is true by itself; all of them on doubt."""
    kept = list(parts)
    for condition in file.read.file_conditions:
        left = [part for part in kept if _may_fit(file, part, condition)]
        if len(left) < len(kept):
            looked_at = dict.fromkeys(str(reference) for reference in references(condition))
            names = " and ".join(looked_at)
            count(f"{file.parts_name} that the statistics of {names} exclude", len(kept) - len(left))
        kept = left
    return kept


def _may_fit(file: ColumnarFile, part: int, condition: ConnectorExpression) -> bool:
    def may_hold(reference: Reference, domain: Domain) -> bool:
        if not file.read.finds(reference):
            return file.read.may_hold_constant(reference, domain)
        return may_match(domain, file.bounds(part, reference, domain.type))

    return may_be_true(condition, may_hold)
