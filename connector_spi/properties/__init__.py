"""Properties of catalogs and sessions: typed descriptors, and the values that are read by them."""

from connector_spi.properties.descriptors import (
    PropertyMetadata,
    boolean_property,
    closest,
    data_size_property,
    duration_property,
    enum_property,
    integer_property,
    string_list_property,
    string_property,
)
from connector_spi.properties.values import PropertyValues, parse_properties

__all__ = [
    "PropertyMetadata",
    "PropertyValues",
    "boolean_property",
    "closest",
    "data_size_property",
    "duration_property",
    "enum_property",
    "integer_property",
    "parse_properties",
    "string_list_property",
    "string_property",
]
