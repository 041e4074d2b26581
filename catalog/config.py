"""Catalog files (``etc/catalog/*.properties``, Trino's keys) and the same from Python.

Reading a file only checks its syntax and finds ``connector.name``. Values are filled (``${ENV:NAME}``,
``${FILE:path}``) and typed when the catalog is built, so that no secret is held before it is needed.
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
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z]+):([^}]*)\}")


@dataclass(frozen=True, slots=True)
class CatalogProperty:
    """A property as it was written; the text is kept out of ``repr``, since it may be a secret.

    Attributes:
        key: Name.
        text: Value with its placeholders.
        file: The file that it stands in; ``None`` when it came from Python.
        line: Its line in the file, from 1.
        literal: The text is the value, and nothing in it a placeholder: it was filled before.
    """

    key: str
    text: str = field(repr=False)
    file: str | None = None
    line: int | None = None
    literal: bool = False


@dataclass(frozen=True, slots=True)
class CatalogConfig:
    """A catalog that was written down, not built yet.

    Attributes:
        name: Name of the catalog, lower case.
        connector_name: What ``connector.name`` says.
        properties: All others, in the order of the file.
        file: The file; ``None`` when it came from Python.
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
        """A catalog described in Python.

        Args:
            name: Name of the catalog.
            connector_name: Its connector.
            properties: All others.
            literal: The values hold no placeholders.

        Raises:
            InvalidPropertyError: The name cannot be a catalog's name.
        """
        check_catalog_name(name, f"catalog '{name}'")
        given = tuple(CatalogProperty(key, text, literal=literal) for key, text in properties.items())
        return cls(name, connector_name, given)

    def where(self, key: str) -> str:
        """The place of a property, for messages: file and line, or the catalog's name."""
        if key == CONNECTOR_NAME and self.file is not None:
            return f"{self.file}, line {self.connector_line}"
        for prop in self.properties:
            if prop.key == key and prop.file is not None:
                return f"{prop.file}, line {prop.line}"
        return self.file or f"catalog '{self.name}'"

    def typed_properties(self, descriptors: Iterable[PropertyMetadata[object]]) -> PropertyValues:
        """Fills placeholders, and checks and types all values.

        Args:
            descriptors: What the connector knows.

        Returns:
            A value for each descriptor, by name, defaults filled in.

        Raises:
            InvalidPropertyError: An unknown key, a wrong or missing value, a placeholder that cannot be filled;
                names file, line and key, and never shows a value that is sensitive or came from a placeholder.
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
        error: What is wrong, with file and line.
        file: The file.
    """

    name: str
    error: ConnectorError
    file: str


def load_catalog_file(path: str | os.PathLike[str]) -> CatalogConfig:
    """Reads one catalog file; the catalog is called as the file without ``.properties``.

    Raises:
        InvalidPropertyError: The file cannot be read, has a broken line, no ``connector.name``, or a name that
            cannot be a catalog's name.
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
    """Reads all ``*.properties`` of a folder, sorted by name; a bad file does not hinder the others.

    Raises:
        InvalidPropertyError: The folder is not there.
    """
    path = Path(folder)
    if not path.is_dir():
        raise InvalidPropertyError(
            f"{path} is not a folder; expected a folder of catalog files such as hive.properties"
        )
    return tuple(_load_or_keep_error(file) for file in sorted(path.glob("*.properties")))


def check_catalog_name(name: str, where: str) -> None:
    """Refuses names that SQL could not say without surprises.

    Raises:
        InvalidPropertyError: Other characters than lower-case letters, digits, ``_`` and ``-``, or no letter first.
    """
    if not _NAME.fullmatch(name):
        raise InvalidPropertyError(
            f"{where}: '{name}' cannot be a catalog's name; expected lower-case letters, digits, '_' and '-', "
            "a letter first"
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
    """The file's text; blanks and line ends at its end are not part of the value."""
    return _read_text(path, f"{where}: file {path}").rstrip()


def _read_text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        # Not chained: the decoder's error holds the bytes of the file.
        raise InvalidPropertyError(f"{what} is not UTF-8 text") from None
    except OSError as error:
        raise InvalidPropertyError(f"{what} cannot be read: {error.strerror}") from error
