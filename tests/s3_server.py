"""An S3 server on loopback that checks signatures and rights, as a process of its own: moto's, with users of IAM.

Run as a program it serves until its standard input ends, and writes where it listens and the keys of its users as one
line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pyarrow.fs as pafs

__all__ = ["BUCKETS", "S3Server", "s3_server"]

BUCKETS = ("one", "two")
"""Each has a user of the same name who may read it and nothing else."""
_CALLS_TO_BEGIN = 3


@dataclass(frozen=True, slots=True)
class S3Server:
    """A server that runs.

    Attributes:
        endpoint: ``http://127.0.0.1:port``.
        keys: Access key and secret key by user; ``admin`` may do anything.
        session: Access key, secret key and token of a role that may read the bucket ``one``.
    """

    endpoint: str
    keys: dict[str, tuple[str, str]]
    session: tuple[str, str, str]

    def properties(self, user: str) -> dict[str, str]:
        """The properties of a catalog that reads as a user."""
        key, secret = self.keys[user]
        return {**self.place(), "s3.aws-access-key": key, "s3.aws-secret-key": secret}

    def place(self) -> dict[str, str]:
        """Properties that say where the server is, and no identity."""
        return {"s3.endpoint": self.endpoint, "s3.region": "us-east-1", "s3.path-style-access": "true"}

    def upload(self, folder: Path, target: str, *, public: bool = False) -> None:
        """Copies a local folder to ``bucket/key``; public objects may be read by anybody."""
        key, secret = self.keys["admin"]
        place = self.endpoint.removeprefix("http://")
        remote = pafs.S3FileSystem(
            access_key=key,
            secret_key=secret,
            endpoint_override=place,
            scheme="http",
            region="us-east-1",
            default_metadata={"ACL": "public-read" if public else "private"},
        )
        pafs.copy_files(str(folder), target, pafs.LocalFileSystem(), remote)


@contextmanager
def s3_server(checks: bool = True) -> Iterator[S3Server]:
    """Starts a server with the buckets ``one`` and ``two``, and stops it.

    Args:
        checks: Whether signatures and rights are checked. Only a server that does not do so takes requests with no
            identity; it gives them public objects alone.
    """
    # Rights are checked from this many calls on.
    calls = {"INITIAL_NO_AUTH_ACTION_COUNT": str(_CALLS_TO_BEGIN)} if checks else {}
    environment = {**os.environ, **calls}
    command = [sys.executable, "-W", "ignore", "-m", "tests.s3_server"]
    root = Path(__file__).resolve().parent.parent
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=root,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            told = json.loads(process.stdout.readline())
            keys = {user: cast("tuple[str, str]", tuple(pair)) for user, pair in told["keys"].items()}
            yield S3Server(told["endpoint"], keys, cast("tuple[str, str, str]", tuple(told["session"])))
        finally:
            process.stdin.close()
            process.wait(30)


def _main() -> None:
    import boto3  # only the server's process needs the two
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    place = {"endpoint_url": f"http://{host}:{port}", "region_name": "us-east-1"}

    def policy(*resources: str) -> str:
        allowed = [{"Effect": "Allow", "Action": "*", "Resource": resource} for resource in resources]
        return json.dumps({"Version": "2012-10-17", "Statement": allowed})

    def make_user(iam: object, name: str, document: str) -> tuple[str, str]:
        for call, arguments in (
            ("create_user", {}),
            ("put_user_policy", {"PolicyName": "rights", "PolicyDocument": document}),
        ):
            getattr(iam, call)(UserName=name, **arguments)
        made = iam.create_access_key(UserName=name)["AccessKey"]  # type: ignore[attr-defined]
        return made["AccessKeyId"], made["SecretAccessKey"]

    first = boto3.client("iam", aws_access_key_id="none", aws_secret_access_key="none", **place)
    admin = make_user(first, "admin", policy("*"))
    identity = {"aws_access_key_id": admin[0], "aws_secret_access_key": admin[1], **place}
    iam, s3, sts = (boto3.client(service, **identity) for service in ("iam", "s3", "sts"))
    keys = {"admin": admin}
    for bucket in BUCKETS:
        s3.create_bucket(Bucket=bucket)
    for bucket in BUCKETS:
        keys[bucket] = make_user(iam, bucket, policy(f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"))
    iam.create_role(RoleName="reader", AssumeRolePolicyDocument=policy("*"))
    iam.put_role_policy(RoleName="reader", PolicyName="rights", PolicyDocument=policy("arn:aws:s3:::one*"))
    role = sts.assume_role(RoleArn="arn:aws:iam::123456789012:role/reader", RoleSessionName="tests")["Credentials"]
    session = (role["AccessKeyId"], role["SecretAccessKey"], role["SessionToken"])
    sys.stdout.write(json.dumps({"endpoint": place["endpoint_url"], "keys": keys, "session": session}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    _main()
