"""A client of HDFS where there is no cluster; what one answers is in tests/integration/storage."""

from __future__ import annotations

import socket
import socketserver
import threading
from contextlib import closing

import pytest

from connectors.toolkit.storage.hdfs.client import HdfsCluster, hdfs_file_system
from tests.hms import free_port


def test_a_node_that_is_not_there() -> None:
    files = hdfs_file_system(
        HdfsCluster(f"hdfs://127.0.0.1:{free_port()}", (("dfs.client.failover.max.attempts", "0"),))
    )
    with pytest.raises(OSError, match="Connection refused"):
        files.get_file_info("/a")


def test_a_node_that_is_silent() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        url = f"hdfs://127.0.0.1:{silent.getsockname()[1]}"
        files = hdfs_file_system(HdfsCluster(url, (("dfs.client.socket-timeout", "300"),)))
        for _ in range(2):
            with pytest.raises(TimeoutError, match=r"no answer for 0\.3 seconds"):
                files.get_file_info("/a")


def test_a_server_that_is_no_node() -> None:
    class HangsUp(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(7)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), HangsUp) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"hdfs://127.0.0.1:{server.server_address[1]}"
        files = hdfs_file_system(HdfsCluster(url, (("dfs.client.failover.max.attempts", "0"),)))
        try:
            # It depends on the moment how the client learns of it.
            for _ in range(20):
                with pytest.raises(OSError, match="it asks for Kerberos"):
                    files.get_file_info("/a")
        finally:
            server.shutdown()
            thread.join()


def test_settings_without_a_node() -> None:
    with pytest.raises(OSError, match="No NameNode hosts found"):
        hdfs_file_system(HdfsCluster("hdfs://service", ()))


def test_settings_are_not_shown() -> None:
    # Hadoop's files hold passwords, too.
    assert "secret" not in repr(HdfsCluster("hdfs://node:1", (("ssl.client.keystore.password", "secret"),)))
