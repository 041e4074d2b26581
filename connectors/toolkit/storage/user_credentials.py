"""From what a user gives along to the settings by which the user reaches storage. Driver side."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from connector_spi.connector import Connector
from connector_spi.errors import InvalidPropertyError
from connectors.toolkit.storage.filesystem import FileSystem
from connectors.toolkit.storage.properties import STORAGE_PROPERTIES, typed_options

__all__ = ["StorageConnector", "with_credentials"]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of storage.

    Attributes:
        given: What a user may give.
        replaced: What else says as whom a catalog reaches it.
    """

    given: tuple[str, ...]
    replaced: tuple[str, ...]


_KINDS = (
    _Kind(
        ("s3.aws-access-key", "s3.aws-secret-key", "s3.aws-session-token"),
        ("s3.anonymous", "s3.iam-role", "s3.external-id", "s3.iam-role-session-name"),
    ),
    _Kind(
        ("gcs.access-token", "gcs.json-key"),
        ("gcs.anonymous", "gcs.json-key-file-path", "gcs.service-account"),
    ),
    _Kind(
        (
            "azure.access-key",
            "azure.sas-token",
            "azure.oauth.tenant-id",
            "azure.oauth.client-id",
            "azure.oauth.secret",
        ),
        ("azure.auth-type",),
    ),
)
_MAY_BE_GIVEN = tuple(name for kind in _KINDS for name in kind.given)
_OF_STORAGE = ("s3.", "gcs.", "azure.", "hdfs.", "fs.", "lakeport.fs.", "hive.")
_ORDER = [prop.name for prop in STORAGE_PROPERTIES]


class StorageConnector(Connector):
    """A connector whose tables are files, which each user may reach as himself."""

    _files: FileSystem

    def with_credentials(self, credentials: tuple[tuple[str, str], ...]) -> Self:
        """The same catalog; all but what reads storage is shared with it."""
        options = with_credentials(self._files.options, credentials)
        if options == self._files.options:
            return self
        made = copy.copy(self)
        made._read_by(FileSystem(options))
        return made

    @abstractmethod
    def _read_by(self, files: FileSystem) -> None:
        """Sets ``_files`` and all else that reads storage."""


def with_credentials(
    options: tuple[tuple[str, str], ...], credentials: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """A catalog's settings of storage, with a user's credentials in place of the catalog's own.

    Of each kind of storage that the user gives something for, nothing of the catalog's own identity is left.

    Args:
        options: From ``storage_options``.
        credentials: By name; those that do not begin like a setting of storage are for others, and passed over.

    Raises:
        InvalidPropertyError: A name is not one of those that a user may give, or credentials do not fit together. The
            message shows no value.
    """
    given = {name: text for name, text in credentials if name.startswith(_OF_STORAGE)}
    for name in given:
        if name not in _MAY_BE_GIVEN:
            raise InvalidPropertyError(
                f"'{name}' is no credential that a user may give for storage; expected one of "
                f"{', '.join(_MAY_BE_GIVEN)}"
            )
    if not given:
        return options
    found = _own(dict(options), given) | given
    made = tuple(sorted(found.items(), key=lambda one: _ORDER.index(one[0])))
    typed_options(made)
    return made


def _own(options: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """What is left of a catalog's settings."""
    replaced = {
        name for kind in _KINDS if any(one in given for one in kind.given) for name in (*kind.given, *kind.replaced)
    }
    return {name: text for name, text in options.items() if name not in replaced}
