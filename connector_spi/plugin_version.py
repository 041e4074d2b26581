"""Whether a plugin was written for this version of the SPI."""

from __future__ import annotations

from connector_spi.connector import SPI_VERSION

__all__ = ["version_problem"]


def version_problem(plugin: object) -> str | None:
    """Why a plugin is refused for its version; ``None`` if it was written for this one.

    Args:
        plugin: Any class or object that an entry point names; its ``spi_version`` is asked.
    """
    version = getattr(plugin, "spi_version", None)
    if version == SPI_VERSION:
        return None
    # An abstract property, or none at all: it says no number.
    if not isinstance(version, int):
        name = (plugin if isinstance(plugin, type) else type(plugin)).__qualname__
        return (
            f"{name} does not say for which version of the SPI it was written; expected a line such as "
            f"'spi_version = {SPI_VERSION}' in the class; install a release of the plugin that has it"
        )
    return (
        f"it was written for version {version} of the SPI, this is version {SPI_VERSION}; "
        "install a release of the plugin for this version"
    )
