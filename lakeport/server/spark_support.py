"""What the server needs of Spark's inside, which a release may change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError

from connector_spi.errors import NotSupportedError
from lakeport.error_codes import UNSUPPORTED_SPARK_VERSION
from lakeport.spark.bridge.compiled.java_classes import first_line
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["needed_of_spark"]


@contextmanager
def needed_of_spark(jvm: Jvm, what: str) -> Iterator[None]:
    """Says of what fails in the block that this Spark lacks it.

    Args:
        jvm: The JVM.
        what: What Spark makes in the block, such as "sessions".

    Raises:
        NotSupportedError: Java refused.
    """
    try:
        yield
    except Py4JError as error:
        raise NotSupportedError(
            f"Spark {jvm.version} does not make {what} as this server needs it ({first_line(error)}); use Spark 4.3",
            UNSUPPORTED_SPARK_VERSION,
        ) from error
