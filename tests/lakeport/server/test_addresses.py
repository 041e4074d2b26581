"""No server listens where other machines reach it."""

from __future__ import annotations

import pytest

from connector_spi.errors import ConnectorError, InvalidArgumentError, NotSupportedError
from lakeport.server.addresses import address_to_listen_on, check_environment
from lakeport.shell.main import main


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_loopback(host: str) -> None:
    assert address_to_listen_on(host, 0).startswith(("127.", "::1"))


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::", "192.0.2.1"])
def test_other_addresses_are_refused(host: str) -> None:
    with pytest.raises(NotSupportedError, match="no authentication") as met:
        address_to_listen_on(host, 0)
    assert met.value.code.name == "SERVER_WITHOUT_AUTHENTICATION"


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", -1), ("127.0.0.1", 65536), ("no such host", 0)])
def test_what_is_no_address(host: str, port: int) -> None:
    with pytest.raises(InvalidArgumentError):
        address_to_listen_on(host, port)


@pytest.mark.parametrize("name", ["HIVE_SERVER2_THRIFT_BIND_HOST", "HIVE_SERVER2_THRIFT_PORT"])
def test_the_environment_moves_no_server(name: str) -> None:
    with pytest.raises(ConnectorError, match=name):
        check_environment({name: "0.0.0.0"})
    check_environment({})


def test_the_command_refuses_before_it_starts_anything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["server", "--host", "0.0.0.0"]) == 1
    assert "[SERVER_WITHOUT_AUTHENTICATION] host '0.0.0.0'" in capsys.readouterr().err
    assert main(["server", "--drain", "-1"]) == 1
    assert "--drain -1.0: expected a number of seconds" in capsys.readouterr().err
