"""The command's settings, by priority: flags, environment variables, the profile, the rest of the file.

The file is ``$XDG_CONFIG_HOME/lakeport/config.toml``, by default ``~/.config/lakeport/config.toml``:

    catalogs = "/etc/lakeport/catalog"
    output-format = "csv"

    [profiles.prod]
    catalog = "hive"
    session = { "hive.max_delete_memory" = "1GB" }
    spark = { "spark.driver.memory" = "8g" }
    duckdb = { memory_limit = "4GB" }
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import closest
from lakeport.engine import ENGINES
from lakeport.shell.output.formats import FORMATS
from lakeport.shell.output.themes import THEMES
from lakeport.sql.dialects import DIALECTS

__all__ = ["EXAMPLE", "TEXT_KEYS", "GivenSetting", "apply_configuration", "config_file"]

EXAMPLE = "hive.native_reader=false"
"""A session property, as it is written on the command line."""
TEXT_KEYS = ("catalogs", "catalog", "schema", "output-format", "engine", "dialect", "theme")
"""Keys with text values; each has an environment variable, such as ``LAKEPORT_OUTPUT_FORMAT``."""

_TABLE_KEYS = ("session", *ENGINES)
_TOP_KEYS = (*TEXT_KEYS, *_TABLE_KEYS, "profile", "profiles")
_PROFILE_KEYS = (*TEXT_KEYS, *_TABLE_KEYS)
_DEFAULTS = {"output-format": "aligned", "dialect": "spark", "theme": "terminal"}
_CHOICES = {"output-format": tuple(FORMATS), "engine": ENGINES, "dialect": DIALECTS, "theme": THEMES}


@dataclass(frozen=True, slots=True)
class GivenSetting:
    """A session property or a setting of an engine, and where it was given; its text may be a secret.

    Attributes:
        name: The name as written.
        text: The value.
        where: Where it was given, for messages.
    """

    name: str
    text: str = field(repr=False)
    where: str


@dataclass(frozen=True, slots=True)
class _Layer:
    """The settings of one part of the file: its top or a profile."""

    texts: Mapping[str, tuple[str, str]]
    session: Mapping[str, GivenSetting]
    engines: Mapping[str, GivenSetting]


def config_file() -> Path:
    """The path of this user's configuration file, which may not exist."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(base, "lakeport", "config.toml")


def apply_configuration(arguments: argparse.Namespace) -> None:
    """Sets the arguments that the command line did not give.

    Args:
        arguments: Arguments of a command that takes ``--catalogs``; others do not change. Those of ``TEXT_KEYS`` that
            are ``None`` are set; ``session_properties`` and ``engine_settings`` become tuples of ``GivenSetting``.

    Raises:
        InvalidPropertyError: The file cannot be read, has an unknown key or an invalid value, or lacks the profile.
    """
    if not hasattr(arguments, "config"):
        return
    layers = list(_layers(arguments.config, arguments.profile))
    for key in TEXT_KEYS:
        name = key.replace("-", "_")
        if hasattr(arguments, name) and getattr(arguments, name) is None:
            setattr(arguments, name, _text(key, layers))
    flags = {one.name: one for one in map(_session_flag, getattr(arguments, "session", None) or ())}
    arguments.session_properties = tuple(_merged([*(layer.session for layer in layers), flags]).values())
    arguments.engine_settings = tuple(_merged([layer.engines for layer in layers]).values())


def _text(key: str, layers: list[_Layer]) -> str | None:
    variable = "LAKEPORT_" + key.replace("-", "_").upper()
    value, where = os.environ.get(variable), f"environment variable {variable}"
    if not value:
        found = next((layer.texts[key] for layer in reversed(layers) if key in layer.texts), None)
        value, where = found if found is not None else (None, "")
    if value is not None and key in _CHOICES and value not in _CHOICES[key]:
        raise InvalidPropertyError(
            f"{where}: met '{value}'{closest(value, _CHOICES[key])}; expected one of {', '.join(_CHOICES[key])}"
        )
    return _DEFAULTS.get(key) if value is None else value


def _merged(layers: list[Mapping[str, GivenSetting]]) -> dict[str, GivenSetting]:
    return {name: setting for layer in layers for name, setting in layer.items()}


def _session_flag(text: str) -> GivenSetting:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InvalidPropertyError(f"--session {text}: expected catalog.property=value, such as {EXAMPLE}")
    return GivenSetting(name.strip(), value, f"--session {name.strip()}")


def _layers(file: str | None, profile: str | None) -> Iterator[_Layer]:
    """The top of the file, then the profile."""
    named = file or os.environ.get("LAKEPORT_CONFIG")
    path = Path(named).expanduser() if named else config_file()
    wanted = profile or os.environ.get("LAKEPORT_PROFILE")
    if not named and not path.is_file():
        if wanted:
            raise InvalidPropertyError(f"no profile '{wanted}': the configuration file {path} does not exist")
        return
    content = _read(path)
    _check_keys(content, _TOP_KEYS, str(path))
    yield _layer(content, path, str(path))
    wanted = wanted or _text_of(content, "profile", str(path))
    profiles = _table_of(content, "profiles", str(path))
    for name, inner in profiles.items():
        if not isinstance(inner, dict):
            raise InvalidPropertyError(f"{path}: profiles.{name}: expected a table, [profiles.{name}]")
        _check_keys(inner, _PROFILE_KEYS, f"{path}, profile '{name}'")
    if wanted is None:
        return
    chosen = profiles.get(wanted)
    if not isinstance(chosen, dict):
        there_are = f"there are {', '.join(sorted(profiles))}" if profiles else "it has no profiles"
        raise InvalidPropertyError(f"{path}: no profile '{wanted}'{closest(wanted, profiles)}; {there_are}")
    yield _layer(chosen, path, f"{path}, profile '{wanted}'")


def _read(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except tomllib.TOMLDecodeError as error:
        raise InvalidPropertyError(f"{path} is not TOML: {error}") from error
    except UnicodeDecodeError:
        raise InvalidPropertyError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise InvalidPropertyError(f"configuration file {path} cannot be read: {error.strerror}") from error


def _check_keys(content: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in content:
        if key not in known:
            raise InvalidPropertyError(
                f"{where}: unknown key '{key}'{closest(key, known)}; known keys: {', '.join(known)}"
            )


def _layer(content: Mapping[str, object], path: Path, where: str) -> _Layer:
    texts: dict[str, tuple[str, str]] = {}
    for key in TEXT_KEYS:
        value = _text_of(content, key, where)
        if value is not None:
            # A relative directory is relative to the file, not to the current directory.
            text = str(path.parent / Path(value).expanduser()) if key == "catalogs" else value
            texts[key] = (text, f"{where}: {key}")
    engines: dict[str, GivenSetting] = {}
    for key in ENGINES:
        for one in _given(content, key, where).values():
            # The names of Spark's settings begin with its own anyway.
            name = f"{key}.{one.name.removeprefix(f'{key}.')}"
            engines[name] = replace(one, name=name)
    return _Layer(texts, _given(content, "session", where), engines)


def _given(content: Mapping[str, object], key: str, where: str) -> dict[str, GivenSetting]:
    flat = _flat(_table_of(content, key, where), f"{where}: {key}")
    return {name: GivenSetting(name, text, f"{where}: {key}") for name, text in flat}


def _text_of(content: Mapping[str, object], key: str, where: str) -> str | None:
    value = content.get(key)
    if value is None or isinstance(value, str):
        return value
    raise InvalidPropertyError(f"{where}: {key}: expected a text, met {value!r}")


def _table_of(content: Mapping[str, object], key: str, where: str) -> Mapping[str, object]:
    value = content.get(key, {})
    if isinstance(value, dict):
        return value
    raise InvalidPropertyError(f"{where}: {key}: expected a table, met {value!r}")


def _flat(table: Mapping[str, object], where: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Flattens nested tables: in TOML, a dotted key without quotes is a nested table."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, where, f"{prefix}{key}.")
        elif isinstance(value, bool):
            yield prefix + key, str(value).lower()
        elif isinstance(value, str | int | float):
            yield prefix + key, str(value)
        else:
            raise InvalidPropertyError(f"{where}.{prefix}{key}: expected a text, number or boolean")
