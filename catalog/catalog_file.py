"""Writes catalog files in the syntax that ``properties_file`` reads."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from catalog.config import CONNECTOR_NAME, check_catalog_name
from catalog.properties_file import parse_properties_text
from connector_spi.errors import InvalidArgumentError, InvalidPropertyError

__all__ = ["write_catalog_file"]

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}


def write_catalog_file(
    folder: Path, name: str, connector_name: str, properties: Mapping[str, str], *, replace: bool = False
) -> Path:
    """Writes a catalog file atomically: readers see the old file or the complete new one.

    Args:
        folder: Directory of catalog files; created if missing.
        name: The catalog.
        connector_name: Its connector.
        properties: All other properties; values with their placeholders.
        replace: Overwrite an existing file of this name.

    Returns:
        The file. Only its owner may read it, since it may hold secrets.

    Raises:
        InvalidPropertyError: The name is not valid for a catalog, a key or value cannot be written in the file's
            syntax, or the directory cannot be written.
        InvalidArgumentError: A file of this name exists.
    """
    check_catalog_name(name, f"catalog '{name}'")
    text = _text({CONNECTOR_NAME: connector_name, **properties})
    target = folder / f"{name}.properties"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Created with mode 0600.
        with tempfile.NamedTemporaryFile("w", dir=folder, prefix=f".{name}-", encoding="utf-8", delete=False) as file:
            file.write(text)
        _put_in_place(Path(file.name), target, replace)
    except OSError as error:
        raise InvalidPropertyError(f"catalog file {target} cannot be written: {error.strerror}") from error
    return target


def _put_in_place(written: Path, target: Path, replace: bool) -> None:
    try:
        if replace:
            os.replace(written, target)
            return
        # Unlike a rename, a link fails if the file was created meanwhile.
        os.link(written, target)
    except FileExistsError as error:
        raise InvalidArgumentError(f"the catalog file {target} exists already; --replace overwrites it") from error
    finally:
        written.unlink(missing_ok=True)


def _text(properties: Mapping[str, str]) -> str:
    text = "".join(f"{_escaped(key, key=True)}={_escaped(value)}\n" for key, value in properties.items())
    read = {line.key: line.text for line in parse_properties_text(text, "the new file")}
    for key, value in properties.items():
        if read.get(key) != value:
            raise InvalidPropertyError(f"the value of property '{key}' cannot be written to a file: it ends in blanks")
    return text


def _escaped(text: str, *, key: bool = False) -> str:
    escaped = "".join(_ESCAPES.get(character, character) for character in text)
    if key:
        return "".join("\\" + character if character in "=: #!" else character for character in escaped)
    return "\\" + escaped if escaped.startswith(" ") else escaped
