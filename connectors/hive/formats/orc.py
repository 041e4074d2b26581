"""ORC files. Executor side."""

from __future__ import annotations

from dataclasses import replace

from connector_spi.page_source import PageSource
from connectors.hive.formats.coercions.rules import ORC_RULES
from connectors.hive.formats.file_format import FileRequest, HiveFileFormat
from connectors.hive.formats.file_storage import by_position
from connectors.toolkit.orc.reader import orc_page_source

__all__ = ["OrcFormat"]


class OrcFormat(HiveFileFormat):
    """``STORED AS ORC``."""

    name = "orc"
    input_formats = frozenset(
        {
            "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
            "org.apache.hadoop.hive.ql.io.orc.VectorizedOrcInputFormat",
        }
    )
    serdes = frozenset({"", "org.apache.hadoop.hive.ql.io.orc.OrcSerde"})
    asks_partition_columns = False
    unions = True

    def page_source(self, request: FileRequest) -> PageSource:
        by_name = request.settings.orc_by_name and not by_position(request.storage)
        read = replace(
            request.read,
            rules=ORC_RULES,
            sources=request.sources(by_name=by_name),
            zone=request.settings.orc_zone or request.read.zone,
            skips_rows=True,
        )
        return orc_page_source(request.files, read)
