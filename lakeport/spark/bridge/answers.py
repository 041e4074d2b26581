"""What Spark will ask a proxy while it plans, handed over to Java with the proxy: see docs/adr/0013."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from py4j.protocol import get_command_part

from lakeport.spark.bridge.compiled.planning_calls import answer_maker
from lakeport.spark.bridge.jvm import Jvm

__all__ = [
    "ITSELF",
    "Answer",
    "KnownAnswers",
    "array",
    "boxed",
    "bucket_transform",
    "columns",
    "constant",
    "constants",
    "hand_over",
    "identity_transform",
    "in_words",
    "java_object",
    "optional",
    "optional_long",
    "optional_of",
    "plain",
    "reference",
    "reference_map",
    "spark_type",
    "string_map",
    "string_set",
    "with_number",
]


@dataclass(frozen=True, slots=True)
class Answer:
    """A value of Java's, in words that ``KnownAnswers.java`` reads.

    Attributes:
        words: The kind of the value, and what the kind needs.
    """

    words: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """What Java needs not ask a proxy.

    Attributes:
        answers: Of methods without parameters, by name.
        kept: Names of methods without parameters whose answer stays what it was when it was first asked.
        changing: Names of methods that may change answers: each is asked for once more after a call.
        in_words: Names of methods that Java calls in words (``PlanningCalls.java``), where it has such a class.
        kept_between_calls: What Java needs to know for such calls.
    """

    answers: Mapping[str, Answer] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    changing: frozenset[str] = frozenset()
    in_words: frozenset[str] = frozenset()
    kept_between_calls: Mapping[str, str | int] = field(default_factory=dict)


ITSELF = Answer(("itself", None))
"""The proxy itself."""


def plain(value: str | bool | int | None) -> Answer:
    """A text, a boolean, a Java int, or null."""
    return Answer(("plain", value))


def spark_type(type_json: str) -> Answer:
    """A ``DataType``."""
    return Answer(("type", type_json))


def columns(struct_json: str) -> Answer:
    """The ``Column[]`` of a ``StructType``."""
    return Answer(("columns", struct_json))


def optional_long(value: float | None) -> Answer:
    """An ``OptionalLong``."""
    return Answer(("long", None if value is None else int(value)))


def optional(java_class: str, text: str) -> Answer:
    """An ``Optional`` of a value that a class of ``java.lang``, or ``Decimal`` of Spark, makes of a text."""
    return Answer(("optional", java_class, text))


def optional_of(answer: Answer) -> Answer:
    """An ``Optional`` of something."""
    return Answer(("optional of", answer.words))


def boxed(java_class: str, text: str) -> Answer:
    """A value that a class of ``java.lang`` makes of a text."""
    return Answer(("boxed", java_class, text))


def reference_map(items: Mapping[str, Answer]) -> Answer:
    """A map by the ``NamedReference`` of each name."""
    return Answer(("reference map", _words(items)))


def string_map(items: Iterable[tuple[str, str]]) -> Answer:
    """A ``Map<String, String>`` in the given order."""
    return Answer(("map", dict(items)))


def string_set(items: Iterable[str]) -> Answer:
    """A ``Set<String>``."""
    return Answer(("set", sorted(items)))


def constants(java_class: str, names: Sequence[str]) -> Answer:
    """A set of constants of an enumeration."""
    return Answer(("constants", java_class, list(names)))


def constant(java_class: str, name: str) -> Answer:
    """A constant of an enumeration."""
    return Answer(("constant", java_class, name))


def array(element_class: str, items: Sequence[Answer] = ()) -> Answer:
    """An array."""
    return Answer(("array", element_class, [one.words for one in items]))


def identity_transform(name: str) -> Answer:
    """The partition transform of a column's values themselves."""
    return Answer(("identity transform", name))


def bucket_transform(count: int, columns: Sequence[str], sorted_by: Sequence[str]) -> Answer:
    """The transform of ``CLUSTERED BY``, and of ``SORTED BY`` where there are such columns."""
    return Answer(("bucket transform", count, list(columns), list(sorted_by)))


def reference(name: str) -> Answer:
    """A ``NamedReference``."""
    return Answer(("reference", name))


def with_number(java_class: str, number: int) -> Answer:
    """An object that the one constructor of a class makes of a Java int."""
    return Answer(("with number", java_class, number))


def java_object(interface: str, answers: Mapping[str, Answer]) -> Answer:
    """An object of which all is known."""
    return Answer(("object", interface, _words(answers)))


def hand_over(jvm: Jvm, proxy: object, known: KnownAnswers, own: Sequence[str]) -> object:
    """The proxy behind a Java object that knows its answers; the proxy as it is where there is no such object.

    Args:
        jvm: The JVM.
        proxy: The proxy.
        known: Its answers.
        own: Names of the methods that the proxy has; of others Java runs the default of the interface.
    """
    maker = answer_maker(jvm)
    return proxy if maker is None else maker.apply(proxy, json.dumps(_known_words(known, own)))


def in_words(jvm: Jvm, proxy: object, known: KnownAnswers, own: Sequence[str]) -> str:
    """What ``hand_over`` hands over, as a text from which Java makes the same."""
    reference = get_command_part(proxy, jvm.gateway.gateway_property.pool).rstrip()
    return json.dumps({**_known_words(known, own), "object": reference})


def _known_words(known: KnownAnswers, own: Sequence[str]) -> dict[str, object]:
    return {
        "answers": _words(known.answers),
        "kept": sorted(known.kept),
        "changing": sorted(known.changing),
        "own": list(own),
        "in words": sorted(known.in_words),
        "kept between calls": dict(known.kept_between_calls),
    }


def _words(answers: Mapping[str, Answer]) -> dict[str, tuple[object, ...]]:
    return {name: answer.words for name, answer in answers.items()}
