"""What the columns of a row may hold together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError
from connector_spi.predicate.domain import DEFAULT_SIMPLIFY_THRESHOLD, Domain
from connector_spi.serializable import Serializable

__all__ = ["TupleDomain"]

C = TypeVar("C", bound=Hashable)
D = TypeVar("D", bound=Hashable)


@dataclass(frozen=True, slots=True)
class TupleDomain(Serializable, Generic[C]):
    """Rows where each column of a few is in its domain: domains joined by AND.

    Columns that are not named may hold anything. Equal, with equal hashes, whatever the order of the columns.

    Attributes:
        domains: Domain by column, not to be changed: no domain of everything is kept. ``None`` says that no row fits
            (NONE), which any domain of nothing makes of the whole.
    """

    domains: Mapping[C, Domain] | None

    def __post_init__(self) -> None:
        kept: dict[C, Domain] | None = None
        if self.domains is not None and not any(domain.is_none for domain in self.domains.values()):
            kept = {column: domain for column, domain in self.domains.items() if not domain.is_all}
        object.__setattr__(self, "domains", kept)

    def __hash__(self) -> int:
        return hash(None if self.domains is None else frozenset(self.domains.items()))

    def __str__(self) -> str:
        if self.domains is None:
            return "none"
        return " and ".join(f"{column} in {domain}" for column, domain in self.domains.items()) or "all"

    @classmethod
    def none(cls) -> TupleDomain[C]:
        """No row."""
        return cls(None)

    @classmethod
    def all(cls) -> TupleDomain[C]:
        """Every row."""
        return cls({})

    @classmethod
    def with_column_domains(cls, domains: Mapping[C, Domain]) -> TupleDomain[C]:
        """Rows where each of these columns is in its domain."""
        return cls(domains)

    @property
    def is_none(self) -> bool:
        """Whether no row fits."""
        return self.domains is None

    @property
    def is_all(self) -> bool:
        """Whether every row fits."""
        return self.domains is not None and not self.domains

    def get(self, column: C, data_type: pa.DataType) -> Domain:
        """The domain of a column, of ``data_type`` where the column is not named."""
        if self.domains is None:
            return Domain.none(data_type)
        domain = self.domains.get(column)
        return Domain.all(data_type) if domain is None else domain

    def intersect(self, other: TupleDomain[C]) -> TupleDomain[C]:
        """The rows that fit both; exact."""
        if self.domains is None or other.domains is None:
            return TupleDomain(None)
        both = dict(self.domains)
        for column, domain in other.domains.items():
            mine = both.get(column)
            both[column] = domain if mine is None else mine.intersect(domain)
        return TupleDomain(both)

    def union(self, *others: TupleDomain[C]) -> TupleDomain[C]:
        """Rows that fit any, and maybe more: each column may hold what any of the sides lets it hold.

        ``a = 1 and b = 1`` with ``a = 2 and b = 2`` gives ``a in (1, 2) and b in (1, 2)``, as Trino's
        ``TupleDomain.columnWiseUnion``. Hand over many at once rather than one after the other.
        """
        sides = [item.domains for item in (self, *others) if item.domains is not None]
        if not sides:
            return TupleDomain(None)
        first, *rest = sides
        return TupleDomain(
            {
                column: domain.union(*(side[column] for side in rest))
                for column, domain in first.items()
                if all(column in side for side in rest)
            }
        )

    def contains(self, other: TupleDomain[C]) -> bool:
        """Whether every row that fits ``other`` fits this."""
        if other.domains is None:
            return True
        if self.domains is None:
            return False
        theirs = other.domains
        return all(column in theirs and domain.contains(theirs[column]) for column, domain in self.domains.items())

    def overlaps(self, other: TupleDomain[C]) -> bool:
        """Whether some row may fit both."""
        if self.domains is None or other.domains is None:
            return False
        theirs = other.domains
        return all(column not in theirs or domain.overlaps(theirs[column]) for column, domain in self.domains.items())

    def simplify(self, threshold: int = DEFAULT_SIMPLIFY_THRESHOLD) -> TupleDomain[C]:
        """These rows and maybe more: each domain simplified."""
        if self.domains is None:
            return self
        return TupleDomain({column: domain.simplify(threshold) for column, domain in self.domains.items()})

    def keep(self, predicate: Callable[[C], bool]) -> TupleDomain[C]:
        """These rows and maybe more: the columns dropped for which ``predicate`` is false. NONE stays NONE."""
        if self.domains is None:
            return self
        return TupleDomain({column: domain for column, domain in self.domains.items() if predicate(column)})

    def transform_keys(self, function: Callable[[C], D | None]) -> TupleDomain[D]:
        """The same domains under other keys; ``None`` from ``function`` drops the column. NONE stays NONE.

        Raises:
            InvalidArgumentError: Two columns become one.
        """
        if self.domains is None:
            return TupleDomain(None)
        renamed: dict[D, Domain] = {}
        for column, domain in self.domains.items():
            key = function(column)
            if key is None:
                continue
            if key in renamed:
                raise InvalidArgumentError(f"two columns, the later one {column}, become the one key {key}")
            renamed[key] = domain
        return TupleDomain(renamed)
