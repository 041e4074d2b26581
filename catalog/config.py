"""Configuration of catalogs, from files (``etc/catalog/*.properties``, Trino's keys) or from Python.

Reading a file only checks its syntax and finds ``connector.name``. Placeholders (``${ENV:NAME}``, ``${FILE:path}``) are
replaced and values are typed when the catalog is built, so that no secret is in memory before it is needed.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from catalog.properties_file import parse_properties_text
from connector_spi.errors import ConnectorError, InvalidPropertyError
from connector_spi.properties import PropertyMetadata, PropertyValues, closest, parse_properties

__all__ = [
    "CONNECTOR_NAME",
    "BrokenCatalog",
    "CatalogConfig",
    "CatalogProperty",
    "check_catalog_name",
    "load_catalog_directory",
    "load_catalog_file",
]

CONNECTOR_NAME = "connector.name"
_SPARKS_OWN = "spark_catalog"
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z]+):([^}]*)\}")


@dataclass(frozen=True, slots=True)
class CatalogProperty:
    """A property as written; ``repr`` leaves out the text, since it may be a secret.

    Attributes:
        key: Name.
        text: Value with its placeholders.
        file: The file that contains it; ``None`` for a catalog from Python.
        line: Its line in the file, from 1.
        literal: The text is the final value; it has no placeholders.
    """

    key: str
    text: str = field(repr=False)
    file: str | None = None
    line: int | None = None
    literal: bool = False


@dataclass(frozen=True, slots=True)
class CatalogConfig:
    """The configuration of a catalog, before the catalog is built.

    Attributes:
        name: Name of the catalog, lower case.
        connector_name: Value of ``connector.name``.
        properties: All other properties, in the order of the file.
        file: The file; ``None`` for a catalog from Python.
        connector_line: The line of ``connector.name`` in the file, from 1.
    """

    name: str
    connector_name: str
    properties: tuple[CatalogProperty, ...]
    file: str | None = None
    connector_line: int | None = None

    @classmethod
    def from_mapping(
        cls, name: str, connector_name: str, properties: Mapping[str, str], *, literal: bool = False
    ) -> CatalogConfig:
        """The configuration of a catalog given in Python.

        Args:
            name: Name of the catalog.
            connector_name: Its connector.
            properties: All other properties.
            literal: The values have no placeholders.

        Raises:
            InvalidPropertyError: The name is not valid for a catalog.
        """
        check_catalog_name(name, f"catalog '{name}'")
        given = tuple(CatalogProperty(key, text, literal=literal) for key, text in properties.items())
        return cls(name, connector_name, given)

    def where(self, key: str) -> str:
        """Where a property was set, for messages: file and line, or the catalog's name."""
        if key == CONNECTOR_NAME and self.file is not None:
            return f"{self.file}, line {self.connector_line}"
        for prop in self.properties:
            if prop.key == key and prop.file is not None:
                return f"{prop.file}, line {prop.line}"
        return self.file or f"catalog '{self.name}'"

    def typed_properties(self, descriptors: Iterable[PropertyMetadata[object]]) -> PropertyValues:
        """Replaces placeholders, and checks and types all values.

        Args:
            descriptors: The connector's properties.

        Returns:
            A value for each descriptor, by name, including defaults.

        Raises:
            InvalidPropertyError: An unknown key, a wrong or missing value, or a placeholder without a value. The
                message names file, line and key, and never shows a sensitive value or one from a placeholder.
        """
        filled = {prop.key: self._fill(prop) for prop in self.properties}
        hidden = {prop.key for prop in self.properties if filled[prop.key] != prop.text}
        known = [
            dataclasses.replace(prop, sensitive=True) if hidden.intersection((prop.name, *prop.aliases)) else prop
            for prop in descriptors
        ]
        return parse_properties(known, filled, self.where)

    def _fill(self, prop: CatalogProperty) -> str:
        if prop.literal:
            return prop.text
        where = f"{self.where(prop.key)}: property '{prop.key}'"
        folder = Path(prop.file).parent if prop.file else Path()

        def value(match: re.Match[str]) -> str:
            provider, argument = match.groups()
            if provider == "ENV":
                return _environment_value(argument, where)
            if provider == "FILE":
                return _file_value(folder / argument, where)
            raise InvalidPropertyError(f"{where}: met '${{{provider}:...}}', expected ${{ENV:NAME}} or ${{FILE:path}}")

        return _PLACEHOLDER.sub(value, prop.text)


@dataclass(frozen=True, slots=True)
class BrokenCatalog:
    """A catalog file that cannot be read; its error is raised when the catalog is used.

    Attributes:
        name: Name of the catalog, from the file's name.
        error: The error, with file and line.
        file: The file.
    """

    name: str
    error: ConnectorError
    file: str


def load_catalog_file(path: str | os.PathLike[str]) -> CatalogConfig:
    """Reads one catalog file; the catalog's name is the file's without ``.properties``.

    Raises:
        InvalidPropertyError: The file cannot be read, has an invalid line, no ``connector.name``, or a name that is
            not valid for a catalog.
    """
    file = Path(path)
    lines = parse_properties_text(_read_text(file, f"catalog file {file}"), str(file))
    check_catalog_name(file.stem, str(file))
    by_key = {line.key: line for line in lines}
    connector = by_key.pop(CONNECTOR_NAME, None)
    if connector is None or not connector.text:
        hint = closest(CONNECTOR_NAME, by_key)
        raise InvalidPropertyError(f"{file}: property '{CONNECTOR_NAME}' is missing, such as connector.name=hive{hint}")
    properties = tuple(CatalogProperty(line.key, line.text, str(file), line.line) for line in by_key.values())
    return CatalogConfig(file.stem, connector.text, properties, str(file), connector.line)


def load_catalog_directory(folder: str | os.PathLike[str]) -> tuple[CatalogConfig | BrokenCatalog, ...]:
    """Reads all ``*.properties`` of a directory, sorted by name; an invalid file does not affect the others.

    Raises:
        InvalidPropertyError: The directory does not exist.
    """
    path = Path(folder)
    if not path.is_dir():
        raise InvalidPropertyError(
            f"{path} is not a directory; expected a directory of catalog files such as hive.properties"
        )
    return tuple(_load_or_keep_error(file) for file in sorted(path.glob("*.properties")))


def check_catalog_name(name: str, where: str) -> None:
    """Refuses names that would be awkward in SQL.

    Raises:
        InvalidPropertyError: The name has characters other than lower-case letters, digits, ``_`` and ``-``, does not
            begin with a letter, or is that of Spark's own catalog.
    """
    if name == _SPARKS_OWN:
        raise InvalidPropertyError(
            f"{where}: a catalog cannot be named '{name}', the name of Spark's own; choose another name"
        )
    if not _NAME.fullmatch(name):
        raise InvalidPropertyError(
            f"{where}: '{name}' is not a valid catalog name; expected lower-case letters, digits, '_' and '-', "
            "beginning with a letter"
        )


def _load_or_keep_error(file: Path) -> CatalogConfig | BrokenCatalog:
    try:
        return load_catalog_file(file)
    except ConnectorError as error:
        return BrokenCatalog(file.stem, error, str(file))


def _environment_value(name: str, where: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise InvalidPropertyError(f"{where}: environment variable '{name}' is not set")
    return value


def _file_value(path: Path, where: str) -> str:
    """The file's text without blanks and line ends at its end."""
    return _read_text(path, f"{where}: file {path}").rstrip()


def _read_text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        # Not chained: the decoder's error contains the bytes of the file.
        raise InvalidPropertyError(f"{what} is not UTF-8 text") from None
    except OSError as error:
        raise InvalidPropertyError(f"{what} cannot be read: {error.strerror}") from error
