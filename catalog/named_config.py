"""Properties files that configure one of several kinds of a thing, such as ``access-control.properties``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from catalog.config import CatalogConfig, CatalogProperty
from catalog.properties_file import parse_properties_text
from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import closest

__all__ = ["load_named_config", "load_properties"]


def load_named_config(file: Path, key: str, known: Sequence[str]) -> CatalogConfig | None:
    """A properties file whose ``key`` says what it configures; ``None`` where there is none.

    Args:
        file: The file.
        key: The property that names the kind.
        known: The kinds that there are.

    Raises:
        InvalidPropertyError: It cannot be read, a line is not understood, or it is of no kind that is known.
    """
    if not file.exists():
        return None
    config = load_properties(file)
    named = next((line for line in config.properties if line.key == key), None)
    if named is None or named.text not in known:
        met = "" if named is None else f" is '{named.text}'{closest(named.text, known)}"
        raise InvalidPropertyError(f"{file}: {key}{met or ' is missing'}; expected one of {', '.join(known)}")
    others = tuple(line for line in config.properties if line is not named)
    return CatalogConfig(file.stem, named.text, others, str(file), named.line)


def load_properties(file: Path) -> CatalogConfig:
    """A properties file that configures one kind of a thing only; its ``connector_name`` is empty.

    Raises:
        InvalidPropertyError: It cannot be read, or a line is not understood.
    """
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise InvalidPropertyError(f"{file} cannot be read: {error}") from error
    lines: Mapping[str, CatalogProperty] = {
        line.key: CatalogProperty(line.key, line.text, str(file), line.line)
        for line in parse_properties_text(text, str(file))
    }
    return CatalogConfig(file.stem, "", tuple(lines.values()), str(file))
