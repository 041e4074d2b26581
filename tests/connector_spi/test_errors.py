from __future__ import annotations

import copy
import pickle

import pytest

from connector_spi import errors
from connector_spi.errors import ConnectorError, ErrorCode, ErrorType

CLASSES = [
    cls for name in errors.__all__ if issubclass(cls := getattr(errors, name), ConnectorError) and name == cls.__name__
]
CODE = ErrorCode("HIVE_BAD_PARTITION", ErrorType.EXTERNAL)


@pytest.mark.parametrize("cls", CLASSES)
def test_an_error_comes_back_whole_from_a_task(cls: type[ConnectorError]) -> None:
    error = cls("column 'a' of table x.y: met 1, expected text", CODE)
    error.add_note("while reading split 3")
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is cls
        assert (other.message, other.code, str(other)) == (error.message, CODE, str(error))
        assert other.__notes__ == ["while reading split 3"]
    assert str(error) == "[HIVE_BAD_PARTITION] column 'a' of table x.y: met 1, expected text"


@pytest.mark.parametrize("cls", CLASSES)
def test_the_class_says_who_has_to_act(cls: type[ConnectorError]) -> None:
    expected = ErrorType.INTERNAL_ERROR
    for base, error_type in (
        (errors.UserError, ErrorType.USER_ERROR),
        (errors.ExternalError, ErrorType.EXTERNAL),
        (errors.ResourceError, ErrorType.INSUFFICIENT_RESOURCES),
    ):
        if issubclass(cls, base):
            expected = error_type
    assert cls("x").code.type is expected


def test_no_two_leaves_share_a_code() -> None:
    leaves = [cls for cls in CLASSES if not cls.__subclasses__()]
    assert len({cls.default_code.name for cls in leaves}) == len(leaves)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.CatalogNotFoundError("x"), LookupError),
        (errors.SchemaNotFoundError("x"), LookupError),
        (errors.TableNotFoundError("x"), LookupError),
        (errors.ColumnNotFoundError("x"), LookupError),
        (errors.ProcedureNotFoundError("x"), LookupError),
        (errors.InvalidPropertyError("x"), ValueError),
        (errors.InvalidArgumentError("x"), ValueError),
        (errors.NotSupportedError("x"), NotImplementedError),
        (errors.MetastoreError("x"), OSError),
        (errors.StorageError("x"), OSError),
        (errors.FileMissingError("x"), FileNotFoundError),
        (errors.CorruptFileError("x"), OSError),
    ],
)
def test_an_error_can_be_caught_as_its_builtin(error: ConnectorError, builtin: type[Exception]) -> None:
    with pytest.raises(builtin):
        raise error


def test_the_tree_in_the_docstring_names_every_class() -> None:
    tree = errors.__doc__ or ""
    assert [cls.__name__ for cls in CLASSES if cls.__name__ not in tree] == []
