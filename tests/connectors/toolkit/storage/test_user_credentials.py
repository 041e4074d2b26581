"""A user's credentials take the place of all that says as whom a catalog reaches the same storage."""

from __future__ import annotations

import pytest

from connector_spi.errors import InvalidPropertyError
from connectors.toolkit.storage.user_credentials import with_credentials

PLACE = (("s3.endpoint", "http://127.0.0.1:9"), ("s3.region", "us-east-1"))
KEYS = (("s3.aws-secret-key", "hush"), ("s3.aws-access-key", "alice"))


@pytest.mark.parametrize(
    "own",
    [
        (),
        (("s3.aws-access-key", "own"), ("s3.aws-secret-key", "own"), ("s3.aws-session-token", "own")),
        (("s3.iam-role", "own"), ("s3.external-id", "own"), ("s3.iam-role-session-name", "own")),
        (("s3.anonymous", "true"),),
    ],
)
def test_nothing_of_the_catalogs_identity_is_left(own: tuple[tuple[str, str], ...]) -> None:
    found = dict(with_credentials((*PLACE, *own), KEYS))
    assert found == {**dict(PLACE), **dict(KEYS)}


def test_other_storage_is_reached_as_before() -> None:
    azure = (("azure.auth-type", "ACCESS_KEY"), ("azure.access-key", "own"))
    found = dict(with_credentials((*azure, ("gcs.json-key-file-path", "/k")), (("gcs.access-token", "t"),)))
    assert found == {**dict(azure), "gcs.access-token": "t"}
    found = dict(with_credentials((*azure, *PLACE), (("azure.sas-token", "s"),)))
    assert found == {**dict(PLACE), "azure.sas-token": "s"}


def test_who_has_the_catalogs_own_keys_is_no_other() -> None:
    options = (*PLACE, ("s3.aws-access-key", "alice"), ("s3.aws-secret-key", "hush"))
    assert set(with_credentials(options, KEYS)) == set(options)
    assert with_credentials(with_credentials(PLACE, KEYS), KEYS) == with_credentials(PLACE, KEYS)


def test_names_for_others_are_passed_over() -> None:
    assert with_credentials(PLACE, (("vault.token", "hush"),)) == PLACE


@pytest.mark.parametrize(
    ("given", "words"),
    [
        # Where storage is, and as whom the process itself may act, is not a user's to say.
        ((("s3.endpoint", "hush"),), "'s3.endpoint' is no credential"),
        ((("s3.iam-role", "hush"),), "'s3.iam-role' is no credential"),
        ((("hdfs.user", "hush"),), "'hdfs.user' is no credential"),
        ((("fs.cache.directories", "hush"),), "is no credential"),
        ((("s3.aws-acces-key", "hush"),), "'s3.aws-acces-key' is no credential"),
        ((("s3.aws-secret-key", "hush"),), "go together"),
        ((("s3.aws-session-token", "hush"),), "belongs to keys"),
        ((("azure.oauth.secret", "hush"),), "go together"),
    ],
)
def test_what_does_not_fit_is_refused_and_not_shown(given: tuple[tuple[str, str], ...], words: str) -> None:
    with pytest.raises(InvalidPropertyError, match=words) as refused:
        with_credentials(PLACE, given)
    assert "hush" not in str(refused.value)
