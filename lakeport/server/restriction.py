"""What clients of a restricted server may do: statements over the catalogs, and nothing that is code or a path."""

from __future__ import annotations

from py4j.java_gateway import JavaObject

__all__ = ["RESTRICTED_SETTINGS", "restrict"]

RESTRICTED_SETTINGS = {"spark.sql.runSQLOnFiles": "false"}
"""Settings of Spark with which a restricted server starts: no table is a path."""
_COMMANDS = """
AddPartitions AlterColumns AppendData CacheTable CacheTableAsSelect Call CommentOnNamespace CommentOnTable
CreateNamespace CreateTable CreateTableAsSelect DeleteFromTable DescribeColumn DescribeFunctionCommand
DescribeNamespace DescribeQueryCommand DescribeRelation DropNamespace DropPartitions DropTable DropTempViewCommand
ExplainCommand MergeIntoTable NoopCommand OverwriteByExpression OverwritePartitionsDynamic RefreshTable RenameTable
ReplaceData SetCatalogAndNamespace SetCatalogCommand SetNamespaceCommand SetNamespaceProperties SetTableProperties
ShowCatalogsCommand ShowColumns ShowCreateTable ShowFunctionsCommand ShowNamespaces ShowNamespacesCommand
ShowPartitions ShowTableProperties ShowTables ShowTablesCommand TruncateTable UncacheTable UnsetTableProperties
UpdateTable WriteDelta
"""
_SETTINGS = """
spark.sql.adaptive.enabled spark.sql.ansi.enabled spark.sql.autoBroadcastJoinThreshold spark.sql.caseSensitive
spark.sql.session.timeZone spark.sql.shuffle.partitions
"""


def restrict(served: JavaObject) -> None:
    """Has a ``ServedSession`` refuse every statement that has anything else in it.

    Args:
        served: The session that the sessions of clients come from.
    """
    served.restrict(_words(_COMMANDS), _words(_SETTINGS))


def _words(text: str) -> str:
    return f" {' '.join(text.split())} "
