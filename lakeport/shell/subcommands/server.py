"""``lakeport server``."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from connector_spi.errors import InvalidArgumentError
from lakeport.default_catalogs import load_catalogs
from lakeport.shell.configuration import EXAMPLE
from lakeport.shell.session_settings import session_settings
from lakeport.shell.state import spark_log
from lakeport.shell.subcommands.arguments import Commands, add_catalogs_option
from lakeport.spark.bridge.options import SparkOptions
from lakeport.transactions.session_properties import PREFIX

if TYPE_CHECKING:
    from lakeport.server.authentication.access import Access
    from lakeport.server.authentication.kerberos import KerberosSettings
    from lakeport.server.authentication.ldap_directory import LdapSettings
    from lakeport.server.authentication.password_file import PasswordFile

__all__ = ["add_server_command"]

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def add_server_command(commands: Commands) -> None:
    """Declares the command."""
    command = commands.add_parser(
        "server",
        help="serve the catalogs to clients of JDBC and Spark Connect",
        description="Starts Spark, its Thrift server and Spark Connect over the catalogs, and runs until SIGTERM or "
        "Ctrl-C. Without authentication and TLS it listens on loopback only.",
    )
    add_catalogs_option(command)
    command.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="address (default: 127.0.0.1)")
    command.add_argument(
        "--thrift-port", metavar="PORT", type=int, default=10000, help="port for JDBC; 0 is a free one (default: 10000)"
    )
    command.add_argument(
        "--connect-port",
        metavar="PORT",
        type=int,
        default=15002,
        help="port for Spark Connect; 0 is a free one (default: 15002)",
    )
    command.add_argument(
        "--drain",
        metavar="SECONDS",
        type=float,
        default=30.0,
        help="how long a stop waits for statements that run (default: 30); a second signal ends the wait",
    )
    _add_access_options(command)
    command.add_argument(
        "--restricted",
        action="store_true",
        help="statements reach the tables of the catalogs only, and run no code of clients; without Spark Connect",
    )
    command.add_argument("--query-log", metavar="FILE", help="append a line of JSON for each query that has ended")
    command.add_argument(
        "--metrics-port", metavar="PORT", type=int, help="port for /health and /metrics on 127.0.0.1; 0 is a free one"
    )
    command.add_argument(
        "--session",
        metavar="C.P=VALUE",
        action="append",
        help=f"a session property of each client's session, such as {EXAMPLE}, or a setting of Spark; may be repeated",
    )
    command.set_defaults(run=_run)


def _add_access_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--password-file", metavar="FILE", help="users of JDBC and their hashed passwords, as 'htpasswd -B' writes them"
    )
    command.add_argument(
        "--password-authenticator",
        metavar="FILE",
        help="or Trino's password-authenticator.properties: ldap, or file",
    )
    command.add_argument(
        "--jwt", metavar="FILE", help="properties of signed tokens (JWT), for Spark Connect and as passwords of JDBC"
    )
    command.add_argument(
        "--kerberos-principal", metavar="NAME", help="clients of JDBC show tickets for this service, SERVICE/HOST@REALM"
    )
    command.add_argument("--kerberos-keytab", metavar="FILE", help="the keys of --kerberos-principal")
    command.add_argument(
        "--connect-token-file",
        metavar="FILE",
        help="token for clients of Spark Connect (default: SPARK_CONNECT_AUTHENTICATE_TOKEN in the environment)",
    )
    command.add_argument(
        "--connect-user-tokens", metavar="FILE", help="lines user:token; a client of Spark Connect shows its user's"
    )
    command.add_argument("--keystore", metavar="FILE", help="key and certificate for TLS at the port for JDBC")
    command.add_argument(
        "--keystore-password-file",
        metavar="FILE",
        help="its password (default: LAKEPORT_KEYSTORE_PASSWORD in the environment)",
    )


def _access(arguments: argparse.Namespace) -> Access:
    from lakeport.server.authentication.access import (
        CONNECT_TOKEN,
        KEY_STORE_PASSWORD,
        Access,
        KeyStore,
        secret,
        user_tokens,
    )
    from lakeport.server.authentication.web_tokens import jwt_settings

    store = None
    if arguments.keystore is not None:
        password = secret(arguments.keystore_password_file, KEY_STORE_PASSWORD)
        if password is None:
            raise InvalidArgumentError(f"--keystore: expected --keystore-password-file, or {KEY_STORE_PASSWORD}")
        store = KeyStore(Path(arguments.keystore), password)
    jwt = None if arguments.jwt is None else jwt_settings(Path(arguments.jwt))
    tokens = None if arguments.connect_user_tokens is None else user_tokens(Path(arguments.connect_user_tokens))
    token = secret(arguments.connect_token_file, CONNECT_TOKEN)
    return Access(
        passwords=_passwords(arguments),
        connect_token=token,
        key_store=store,
        user_tokens=tokens,
        jdbc_only=arguments.restricted,
        jwt=jwt,
        kerberos=_kerberos(arguments),
    )


def _kerberos(arguments: argparse.Namespace) -> KerberosSettings | None:
    from lakeport.server.authentication.kerberos import KerberosSettings

    principal, keytab = arguments.kerberos_principal, arguments.kerberos_keytab
    if (principal is None) != (keytab is None):
        raise InvalidArgumentError("expected both of --kerberos-principal and --kerberos-keytab, or none")
    return None if principal is None else KerberosSettings(principal, Path(keytab))


def _passwords(arguments: argparse.Namespace) -> PasswordFile | LdapSettings | None:
    from lakeport.server.authentication.password_file import PasswordFile
    from lakeport.server.authentication.passwords import configured_passwords

    if arguments.password_file is not None and arguments.password_authenticator is not None:
        raise InvalidArgumentError("expected one of --password-file and --password-authenticator")
    if arguments.password_file is not None:
        return PasswordFile(Path(arguments.password_file))
    given = arguments.password_authenticator
    return None if given is None else configured_passwords(Path(given))


def _run(arguments: argparse.Namespace) -> int:
    if not 0 <= arguments.drain < threading.TIMEOUT_MAX:
        raise InvalidArgumentError(f"--drain {arguments.drain}: expected a number of seconds, 0 or more")
    # PySpark, which the other commands load later or not at all.
    from lakeport.server.queries.installed_listeners import installed_listeners
    from lakeport.server.queries.query_log import QueryLog
    from lakeport.server.server import Server, ServerOptions

    access = _access(arguments)
    log = None if arguments.query_log is None else QueryLog(Path(arguments.query_log))
    catalogs = load_catalogs(arguments.catalogs)
    try:
        found = session_settings(catalogs, "spark", arguments.session_properties, arguments.engine_settings)
        ours = {PREFIX + name: text for name, text in found.properties.items()}
        spark = SparkOptions(settings={**found.engines["spark"], **ours}, log=None if arguments.debug else spark_log())
        options = ServerOptions(
            host=arguments.host,
            thrift_port=arguments.thrift_port,
            connect_port=arguments.connect_port,
            drain_seconds=arguments.drain,
            access=access,
            listeners=(*installed_listeners(), *([] if log is None else [log])),
            metrics_port=arguments.metrics_port,
            restricted=arguments.restricted,
        )
        print("starting Spark", flush=True)
        server = Server(catalogs, spark, options)
        # Not before: PySpark sets a handler for Ctrl-C of its own when Spark starts.
        with _signals() as (stopping, urgent):
            for name, address in server.addresses.items():
                print(f"{name}: {address}", flush=True)
            stopping.wait()
            server.refuse_statements()
            print("stopping", flush=True)
            cancelled = server.stop(urgent.is_set)
    except BaseException:
        catalogs.shutdown()
        raise
    print(f"stopped; statements cancelled: {cancelled}" if cancelled else "stopped", flush=True)
    return 0


@contextmanager
def _signals() -> Iterator[tuple[threading.Event, threading.Event]]:
    """Events that the first and the second signal to end set."""
    stopping, urgent = threading.Event(), threading.Event()

    def on_signal(number: int, frame: object) -> None:
        (urgent if stopping.is_set() else stopping).set()

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield stopping, urgent
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
