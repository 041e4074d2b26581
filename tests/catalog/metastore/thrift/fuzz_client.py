"""Reads answers of a metastore that were changed at random, with bounded memory: run by ``test_fuzzed_answers.py``.

    python -m tests.catalog.metastore.thrift.fuzz_client ANSWERS SEED COUNT

ANSWERS is a JSON file with the answer to each call in hexadecimal. Prints what became of the calls, as JSON. Each has
to end in a result or an error of ours; anything else ends the process.
"""

from __future__ import annotations

import json
import random
import resource
import socket
import struct
import sys
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from catalog.metastore.wrappers.availability import Availability
from connector_spi.errors import ConnectorError
from tests.catalog.metastore.operations import all_operations
from tests.catalog.metastore.thrift.loopback import serving

ADDRESS_SPACE = 4 << 30
LENGTHS = [2**31 - 1, 2**32 - 1, 2**31, 1 << 28, 1 << 24, 1 << 20, 0]
LIST, STRUCT, MAP, STRING = 15, 12, 13, 11


def changed(answer: bytes, chance: random.Random) -> bytes:
    """An answer that no metastore gave."""
    way = chance.randrange(7)
    place = chance.randrange(len(answer))
    if way == 0:
        return answer[:place]
    if way == 1:
        data = bytearray(answer)
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        return bytes(data)
    if way == 2:
        return answer[:place] + struct.pack(">I", chance.choice(LENGTHS)) + answer[place + 4 :]
    if way == 3:
        return answer[:place] + chance.randbytes(chance.randint(1, 64)) + answer[place:]
    if way == 4:
        end = chance.randint(place, len(answer))
        return answer[:place] + answer[place:end] * chance.randint(2, 50) + answer[end:]
    if way == 5:
        return answer[:-1] + deep(chance)
    return answer[:-1] + wide(chance)


def deep(chance: random.Random) -> bytes:
    """A field of lists in lists, or structs in structs, to a great depth."""
    depth = chance.choice([10, 63, 64, 65, 1000, 200_000])
    number = chance.choice([0, 1, 99])
    if chance.random() < 0.5:
        inner = struct.pack(">bi", LIST, 1) * depth + struct.pack(">bi", STRING, 0)
        return struct.pack(">bh", LIST, number) + inner + b"\0"
    return struct.pack(">bh", STRUCT, number) * depth + b"\0" * (depth + 1)


def wide(chance: random.Random) -> bytes:
    """A field that claims to hold very many things."""
    number, count = chance.choice([0, 1, 99]), chance.choice(LENGTHS)
    inner = chance.choice([LIST, STRUCT, MAP, STRING, 8, 3])
    if chance.random() < 0.3:
        return struct.pack(">bhbbI", MAP, number, STRING, inner, count)
    return struct.pack(">bhbI", LIST, number, inner, count) + b"\0" * chance.choice([0, 100_000])


def main(answers: dict[str, bytes], seed: int, count: int) -> dict[str, int]:
    """Makes so many calls; how they ended, by result or code of the error, and the memory in MB that they took."""
    chance = random.Random(seed)
    operations = sorted(all_operations().items())

    def handle(client: socket.socket) -> None:
        with suppress(OSError):
            while request := client.recv(1 << 20):
                (length,) = struct.unpack_from(">i", request, 4)
                name = request[8 : 8 + length].decode()
                if name == "set_ugi" and chance.random() < 0.98:
                    client.sendall(answers[name])
                    continue
                client.sendall(changed(answers.get(name, answers["get_all_databases"]), chance))
                # More than was promised never comes.
                client.shutdown(socket.SHUT_WR)

    ended: Counter[str] = Counter()
    with serving(handle) as uri:
        limits = Availability(max_wait=20.0)
        config = ThriftConfig(uri=uri, read_timeout=10, max_retries=0, availability=limits)
        with closing(connect_thrift(config)) as metastore:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for _ in range(count):
                _, operation = chance.choice(operations)
                try:
                    operation(metastore)
                    ended["result"] += 1
                except ConnectorError as error:
                    ended[error.code.name] += 1
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {**ended, "megabytes": grown // 1024}


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    recorded = {name: bytes.fromhex(text) for name, text in json.loads(Path(sys.argv[1]).read_text()).items()}
    print(json.dumps(main(recorded, int(sys.argv[2]), int(sys.argv[3]))))  # noqa: T201  # for the test
