"""Catalogs as the text of a view meets them: with the rights of the view's owner, under names of their own.

Spark keeps the relations of one analysis by name. So a table that a user reads, and the same one below a view, which
its owner reads, need two names: else the first rights would count for both.
"""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from py4j.java_gateway import JavaObject

from connector_spi.security.connector_access_control import denied
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.catalog_map import add_for_statement
from lakeport.sql.catalog_names import catalogs_in, with_catalogs_renamed
from lakeport.transactions.statement import Statement

__all__ = ["OwnersCatalog", "OwnersNames"]


@dataclass(frozen=True, slots=True)
class OwnersCatalog:
    """A catalog with the rights of an owner, in one statement.

    Attributes:
        catalog: Its own name.
        name: The name that it has in the text of the view. It cannot be guessed, and is of no use elsewhere.
        within: The statement of who reads the view, or that of the owner of a view around it.
        owner: Of the view.
    """

    catalog: str
    name: str
    within: weakref.ref[Statement]
    owner: str

    def statement(self, found: Statement) -> Statement:
        """The statement that tables of the catalog are read in.

        Args:
            found: What the thread is in.

        Raises:
            AccessDeniedError: Another statement than that of the view.
        """
        own = self.within()
        if own is None or found.query_id != own.query_id:
            denied(f"Cannot access catalog {self.name}")
        return own.of_owner(self.owner)


@dataclass(frozen=True, slots=True)
class OwnersNames:
    """Gives catalogs the names that the text of a view has to have.

    Attributes:
        jvm: The JVM.
        known: Names of all catalogs.
        statement: As ``OwnersCatalog.within``.
        owner: Of the view.
        make: Makes a catalog.
    """

    jvm: Jvm
    known: Collection[str]
    statement: Statement
    owner: str
    make: Callable[[OwnersCatalog], JavaObject]

    def renamed(self, text: str, catalog: str) -> tuple[str, str]:
        """The text, and the catalog of names in it that say none, with new names; these are there from now on.

        Args:
            text: A query in Spark's SQL.
            catalog: The catalog of names that say none.
        """
        token = secrets.token_hex(8)
        named = {one for one in (catalog, *catalogs_in(text, self.known)) if one in self.known}
        names: Mapping[str, str] = {one: f"{one}__{token}" for one in named}
        within = weakref.ref(self.statement)
        made = {name: self.make(OwnersCatalog(one, name, within, self.owner)) for one, name in names.items()}
        add_for_statement(self.jvm, self.statement, made)
        return with_catalogs_renamed(text, names), names.get(catalog, catalog)
