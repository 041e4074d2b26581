"""Writes the screens of docs/shell.md anew, as a real shell shows them: ``make screens``."""

from __future__ import annotations

from tests.lakeport.shell.screens import PAGE, SCREENS, played, shell_over_samples, with_screens


def main() -> None:
    """Plays all screens in one shell, and rewrites the page."""
    with shell_over_samples() as shell:
        screens = {name: played(name, shell) for name in SCREENS}
    PAGE.write_text(with_screens(PAGE.read_text(encoding="utf-8"), screens), encoding="utf-8")


if __name__ == "__main__":
    main()
