"""The catalog properties by which the connectors reach storage, with Trino's keys."""

from __future__ import annotations

from collections.abc import Mapping

from connector_spi.properties import PropertyMetadata, string_property

__all__ = ["STORAGE_PROPERTIES", "storage_options"]

STORAGE_PROPERTIES: tuple[PropertyMetadata[object], ...] = (
    string_property("s3.endpoint", "Address of an S3 store other than Amazon's."),
    string_property("s3.region", "Region of the S3 store."),
    string_property("s3.aws-access-key", "Access key of the S3 store; with s3.aws-secret-key.", sensitive=True),
    string_property("s3.aws-secret-key", "Secret key of the S3 store; with s3.aws-access-key.", sensitive=True),
)
"""Descriptors for a connector's ``config_properties``."""


def storage_options(properties: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """What is set of ``STORAGE_PROPERTIES``, as ``FileSystem`` takes it. Holds secrets: keep it out of ``repr``."""
    given = ((prop.name, properties[prop.name]) for prop in STORAGE_PROPERTIES)
    return tuple((name, str(value)) for name, value in given if value)
