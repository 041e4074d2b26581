"""Values of properties: checked, typed by their descriptors, and read by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, cast

from connector_spi.errors import InternalError, InvalidPropertyError
from connector_spi.properties.descriptors import PropertyMetadata, closest

__all__ = ["PropertyValues", "parse_properties"]

T = TypeVar("T")


class PropertyValues:
    """A typed value for each of the known properties. Secrets may be among them, so ``repr`` shows names only.

    Args:
        values: By name of the property.
        texts: What was given, by name of the property; the others have their defaults.
    """

    __slots__ = ("_texts", "_values")

    def __init__(self, values: Mapping[str, object], texts: Mapping[str, str] | None = None) -> None:
        self._values = dict(values)
        self._texts = dict(texts or {})

    def get(self, prop: PropertyMetadata[T]) -> T:
        """The value of a property: what was given, or its default.

        Raises:
            InternalError: The property is not among those that were declared.
        """
        if prop.name not in self._values:
            raise InternalError(f"property '{prop.name}' is not declared")
        return cast(T, self._values[prop.name])

    def texts(self, properties: Iterable[PropertyMetadata[object]]) -> tuple[tuple[str, str], ...]:
        """What was given of some properties, as a catalog file has it; secrets are among it."""
        return tuple((one.name, self._texts[one.name]) for one in properties if one.name in self._texts)

    def as_dict(self) -> dict[str, object]:
        """All values by name, in the order of the descriptors; secrets are among them."""
        return dict(self._values)

    def session_properties(
        self, properties: Iterable[PropertyMetadata[object]]
    ) -> tuple[PropertyMetadata[object], ...]:
        """The session properties that override some of these, whose defaults are the values here."""
        return tuple(one.for_session(self.get(one)) for one in properties if one.session_name is not None)

    def __repr__(self) -> str:
        return f"PropertyValues({', '.join(self._texts)})"


def parse_properties(
    descriptors: Iterable[PropertyMetadata[object]],
    given: Mapping[str, str],
    where: Callable[[str], str],
) -> PropertyValues:
    """Checks and types what a file or a caller gives.

    Args:
        descriptors: All properties that are known.
        given: Text by name.
        where: Names the place of a property for messages, such as ``etc/catalog/hive.properties, line 3``.

    Returns:
        A value for each descriptor; defaults where nothing is given.

    Raises:
        InvalidPropertyError: An unknown name (with the closest known one), a wrong value, a missing required one,
            or a property given twice through an alias.
    """
    known = list(descriptors)
    by_name = {name: prop for prop in known for name in (prop.name, *prop.aliases)}
    values: dict[str, object] = {prop.name: prop.default for prop in known}
    texts: dict[str, str] = {}
    names: dict[str, str] = {}
    for name, text in given.items():
        found = by_name.get(name)
        if found is None:
            raise InvalidPropertyError(f"{where(name)}: unknown property '{name}'{closest(name, by_name)}")
        if found.name in names:
            raise InvalidPropertyError(f"{where(name)}: '{name}' says again what '{names[found.name]}' says; keep one")
        names[found.name] = name
        texts[found.name] = text
        values[found.name] = _parse_value(found, text, where(name))
    for prop in known:
        if prop.required and prop.name not in names:
            raise InvalidPropertyError(f"{where(prop.name)}: property '{prop.name}' is missing: {prop.description}")
    return PropertyValues(values, texts)


def _parse_value(prop: PropertyMetadata[T], text: str, where: str) -> T:
    """Types one value.

    Raises:
        InvalidPropertyError: The text is not a value of the property; a secret is not shown.
    """
    try:
        return prop.parse(text)
    except ValueError as error:
        met = "the value given" if prop.sensitive else repr(text) + closest(text, prop.choices)
        # The reason quotes the text, so it would show a secret in the trace.
        reason = None if prop.sensitive else error
        raise InvalidPropertyError(f"{where}: property '{prop.name}' expects {prop.kind}, met {met}") from reason
