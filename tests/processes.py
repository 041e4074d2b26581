"""Which of the processes of ``make test`` and ``make integration`` runs which tests.

A Spark, a Hive and a metastore take seconds to start and to warm up, so that the tests of each stay in one process. The
other tests go to whichever process is free, file by file. A file that needs one of them and is missing here costs time,
no more.
"""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

__all__ = ["SharedServers"]

_SPARK = (
    "tests/connectors/hudi/test_native_files_in_spark.py",
    "tests/docs/",
    "tests/lakeport/access_control/test_spark_access.py",
    "tests/lakeport/server/authentication/test_ldap_directory.py",
    "tests/lakeport/server/authentication/test_web_tokens.py",
    "tests/lakeport/server/queries/test_events.py",
    "tests/lakeport/server/test_server.py",
    "tests/lakeport/shell/test_diagnosis.py",
    "tests/lakeport/shell/test_problems.py",
    "tests/lakeport/spark/",
    "tests/lakeport/test_plugin_errors.py",
    "tests/lakeport/test_s",
    "tests/lakeport/transactions/",
    "tests/lakeport/trino/",
)
_METASTORE = (
    "tests/catalog/metastore/",
    "tests/connectors/hive/test_thrift_metastore.py",
    "tests/connectors/hive/transactions/",
)
_HIVE = ("tests/integration/hive/",)
_RELEASES = (
    "tests/integration/test_administration.py",
    "tests/integration/test_analyze.py",
    "tests/integration/test_compactions.py",
    "tests/integration/test_metastore_releases.py",
    "tests/integration/test_statistics.py",
    "tests/integration/test_transact",
)
_CLIENTS = ("tests/integration/test_clients.py", "tests/integration/test_dbt.py")
_SCOPES = {"spark": _SPARK, "metastore": _METASTORE, "hive": _HIVE, "releases": _RELEASES, "clients": _CLIENTS}


class SharedServers(LoadScopeScheduling):  # type: ignore[misc]  # no types
    """Used for ``--dist=loadgroup``, too, whose groups pytest-xdist 3.8 loses with pytest 9.2."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return next((scope for scope, files in _SCOPES.items() if file.startswith(files)), file)
