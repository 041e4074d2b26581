"""Windows that have a name, as ``SELECT sum(x) OVER w ... WINDOW w AS (...)``, written out where they are used."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from connector_spi.errors import InvalidArgumentError
from connector_spi.properties import closest
from lakeport.duckdb.refusal import refused

__all__ = ["write_out_windows"]

_PARTS = ("partition_by", "order", "spec")


def write_out_windows(tree: Expr) -> None:
    """Puts the definitions of windows in place of their names; changes the statement.

    Raises:
        NotSupportedError: A window that is made of another one.
        InvalidArgumentError: There is no window of a name.
    """
    for select in list(tree.find_all(exp.Select)):
        known = {one.name.lower(): one for one in select.args.get("windows") or []}
        for window in [one for one in select.find_all(exp.Window) if one.parent_select is select]:
            name = window.args.get("alias")
            if name is None or window.arg_key == "windows":
                continue
            found = known.get(name.name.lower())
            if found is None:
                raise InvalidArgumentError(f"there is no window {name.name}{closest(name.name, known)}")
            if any(window.args.get(key) for key in _PARTS) or found.args.get("alias") is not None:
                raise refused(window, "a window that is made of another one")
            window.set("alias", None)
            for key in _PARTS:
                part = found.args.get(key)
                copied = [one.copy() for one in part] if isinstance(part, list) else part and part.copy()
                window.set(key, copied)
        select.set("windows", None)
