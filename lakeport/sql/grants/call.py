"""A statement about privileges as the call of a procedure, for an engine whose parser does not know it."""

from __future__ import annotations

import json

__all__ = ["GRANTS", "grant_call"]

GRANTS = ("system", "lakeport_grants")
"""The name of the procedure for statements about privileges."""


def grant_call(catalog: str, text: str, current: tuple[str, str]) -> str:
    """The call that runs a statement about privileges.

    Args:
        catalog: Whose privileges.
        text: The statement.
        current: Catalog and schema of names that say none.
    """
    # What a backslash in a literal means is a setting of Spark.
    encoded = json.dumps([text, *current]).encode().hex()
    quoted = catalog.replace("`", "``")
    return f"CALL `{quoted}`.{'.'.join(GRANTS)}('{encoded}')"
