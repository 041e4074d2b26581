"""``SET`` and ``RESET``: session properties of the catalogs, and settings of DuckDB."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping

import duckdb
import pyarrow as pa

from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidPropertyError, NotSupportedError
from connector_spi.properties import closest
from lakeport.duckdb.refusal import refused
from lakeport.error_codes import UNSUPPORTED_LOCAL_SQL
from lakeport.transactions.engine_settings import SPARK_PROPERTIES
from lakeport.transactions.session_properties import PREFIX, check_set_statement

__all__ = ["SETTING_NAMES", "Settings"]

_PREFIX = "duckdb."
_NAMES = ("memory_limit", "threads", "temp_directory", "max_temp_directory_size")
SETTING_NAMES = tuple(_PREFIX + name for name in _NAMES)
"""DuckDB's settings as ``SET`` names them."""
_UNSET = "<undefined>"
_KEY = r"(?:`(?P<quoted>[^`]+)`|(?P<key>[^`=\s]+))"
_SET = re.compile(rf"(?:{_KEY}\s*(?:=\s*(?P<value>.*?))?)?[;\s]*", re.DOTALL)
_RESET = re.compile(rf"(?:{_KEY})?[;\s]*")


class Settings:
    """The settings of a session.

    Args:
        registry: The catalogs, whose session properties are set.
        database: DuckDB.
        given: Settings of DuckDB to begin with, such as ``memory_limit``.

    Attributes:
        properties: Session properties that are set, by ``CATALOG.PROPERTY``.

    Raises:
        InvalidPropertyError: A setting that there is not, or a value that DuckDB does not take.
    """

    def __init__(
        self, registry: CatalogRegistry, database: duckdb.DuckDBPyConnection, given: Mapping[str, str]
    ) -> None:
        self.properties: dict[str, str] = {}
        self._registry = registry
        self._database = database
        self._given: dict[str, str] = {}
        # DuckDB's own place is the current directory; spilled rows are for no one else's eyes.
        self._folder = tempfile.mkdtemp(prefix="lakeport-duckdb-")
        self.remove_folder = weakref.finalize(self, shutil.rmtree, self._folder, True)
        # Nothing is fetched from anywhere, and no variable of Python is a table.
        for name in ("autoinstall_known_extensions", "autoload_known_extensions", "python_enable_replacements"):
            database.execute(f"SET GLOBAL {name} = false")
        database.execute("SET temp_directory = $folder", {"folder": self._folder})
        for name, value in given.items():
            self._set_duckdb(name.removeprefix(_PREFIX), value)

    @property
    def threads(self) -> int:
        """How many threads DuckDB has."""
        return int(self._value("threads"))

    def of_catalog(self, catalog: str) -> dict[str, str]:
        """The session properties that are set for a catalog."""
        prefix = f"{catalog}."
        return {name[len(prefix) :]: text for name, text in self.properties.items() if name.startswith(prefix)}

    def set(self, text: str) -> pa.Table:
        """What ``SET text`` shows: the key and the value, of all that is set where the text is empty.

        Raises:
            NotSupportedError: A setting of Spark.
            InvalidPropertyError: There is no such catalog, property or value.
        """
        match = _SET.fullmatch(text.strip())
        if match is None:
            raise refused(f"SET {text.strip()}", "settings are written as SET key = value")
        key, value = match["quoted"] or match["key"], match["value"]
        if key is None:
            ours = {f"{PREFIX}{name}": text for name, text in self.properties.items()}
            return _rows({**ours, **{f"{_PREFIX}{name}": self._value(name) for name in self._given}})
        name = self._checked("SET", key)
        if value is None:
            shown = self._value(name) if key.startswith(_PREFIX) else self.properties.get(name, _UNSET)
            return _rows({key: shown})
        if key.startswith(_PREFIX):
            self._set_duckdb(name, value)
            return _rows({key: self._value(name)})
        check_set_statement(self._registry, f"SET {text.strip()}")
        self.properties[name] = value.strip("`")
        return _rows({key: self.properties[name]})

    def reset(self, text: str) -> None:
        """``RESET text``: takes a setting back, or all where the text is empty; raises as ``set``."""
        match = _RESET.fullmatch(text.strip())
        if match is None:
            raise refused(f"RESET {text.strip()}", "settings are written as RESET key")
        key = match["quoted"] or match["key"]
        if key is None:
            self.properties.clear()
            for name in list(self._given):
                self._reset_duckdb(name)
        elif key.startswith(_PREFIX):
            self._reset_duckdb(self._checked("RESET", key))
        else:
            self.properties.pop(self._checked("RESET", key), None)

    def _checked(self, verb: str, key: str) -> str:
        """The name behind the prefix of a key."""
        if key.startswith(_PREFIX):
            return _known(key.removeprefix(_PREFIX))
        if not key.startswith(PREFIX):
            is_ours = key.partition(".")[0] in self._registry.names()
            way = f"write {PREFIX}{key}" if is_ours else f"it has {PREFIX}CATALOG.PROPERTY and duckdb.memory_limit"
            raise refused(f"{verb} {key}", f"it is no setting of it; {way}")
        name = key.removeprefix(PREFIX)
        if name.partition(".")[2] in SPARK_PROPERTIES:
            raise NotSupportedError(
                f"the session property {key} says what Spark does, and the engine is duckdb; leave it out, or use the "
                "engine spark",
                UNSUPPORTED_LOCAL_SQL,
            )
        return name

    def _value(self, name: str) -> str:
        with self._database.cursor() as cursor:
            found = cursor.execute("SELECT current_setting(?)", [name]).fetchone()
        return str(found[0]) if found is not None else _UNSET

    def _set_duckdb(self, name: str, value: str) -> None:
        text = value[1:-1] if len(value) > 1 and value[0] == value[-1] == "'" else value
        self._change(f"SET GLOBAL {_known(name)} = $value", name, {"value": text})
        self._given[name] = text

    def _reset_duckdb(self, name: str) -> None:
        if name == "temp_directory":
            self._change("SET GLOBAL temp_directory = $value", name, {"value": self._folder})
        else:
            self._change(f"RESET GLOBAL {name}", name, {})
        self._given.pop(name, None)

    def _change(self, statement: str, name: str, values: Mapping[str, str]) -> None:
        try:
            with self._database.cursor() as cursor:
                cursor.execute(statement, dict(values))
        except duckdb.Error as error:
            raise InvalidPropertyError(
                f"{_PREFIX}{name} is not set to '{values.get('value', 'its default')}': {str(error).splitlines()[0]}"
            ) from error


def _known(name: str) -> str:
    if name not in _NAMES:
        raise InvalidPropertyError(
            f"no setting '{_PREFIX}{name}'{closest(name, _NAMES)}; there are {', '.join(SETTING_NAMES)}"
        )
    return name


def _rows(found: Mapping[str, str]) -> pa.Table:
    return pa.table({"key": pa.array(list(found), pa.string()), "value": pa.array(list(found.values()), pa.string())})
