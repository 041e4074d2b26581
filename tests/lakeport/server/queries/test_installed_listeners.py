"""Listeners of other packages are found, and none is left out in silence."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from connector_spi.errors import ExternalError
from connector_spi.optional import EventListener
from lakeport.server.queries.installed_listeners import LISTENER_GROUP, installed_listeners


class Audit(EventListener):
    pass


MADE = Audit()


class Unfit:
    pass


class Broken(EventListener):
    def __init__(self) -> None:
        raise ValueError("no address is set")


def point(name: str, target: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{target}", LISTENER_GROUP)


def test_classes_and_instances() -> None:
    found = installed_listeners([point("b", "MADE"), point("a", "Audit"), point("a", "Audit")])
    assert len(found) == 2
    assert found[1] is MADE
    assert isinstance(found[0], Audit)
    assert installed_listeners([]) == ()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("Unfit", "is of Unfit; expected a connector_spi.EventListener"),
        ("Broken", "fails: ValueError: no address is set"),
        ("Missing", "fails: AttributeError"),
    ],
)
def test_one_that_cannot_be_had(target: str, words: str) -> None:
    with pytest.raises(ExternalError, match=words):
        installed_listeners([point("audit", target)])
