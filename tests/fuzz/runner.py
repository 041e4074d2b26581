"""Reads many damaged files in processes of their own, and says which reads did not end as they should."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO

from tests.fuzz.worker import case_of
from tests.paths import PROJECT

__all__ = ["Findings", "fuzz"]

WORKER = ("-m", "tests.fuzz.worker")
"""What Python runs as the process."""
SECONDS = 10.0
"""Time of the processor that a read may take."""
_HUNG_SECONDS = 60.0


@dataclass
class Findings:
    """How reads ended.

    Attributes:
        endings: ``rows`` or the code of an error, and how often.
        wrong: What ended neither in rows nor in an error of ours, or took too long: number, case and words.
    """

    endings: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, number: int, begun: str, told: dict[str, object]) -> None:
        """Takes one ending in."""
        where = f"{number} ({begun})"
        if "wrong" in told:
            self.wrong.append(f"{where}: {told['wrong']}: {told['words']}")
        elif float(str(told["seconds"])) > SECONDS:
            self.wrong.append(f"{where}: {told['seconds']} s")
        else:
            self.endings["rows" if "rows" in told else str(told["error"])] += 1


def fuzz(numbers: range, processes: int = 2) -> Findings:
    """Reads the damaged files of the numbers."""
    findings = Findings()
    with ThreadPoolExecutor(processes) as pool:
        for found in pool.map(_lane, (numbers[lane::processes] for lane in range(processes))):
            findings.endings += found.endings
            findings.wrong += found.wrong
    findings.wrong.sort(key=lambda text: int(text.partition(" ")[0]))
    return findings


def _lane(numbers: range) -> Findings:
    findings = Findings()
    while numbers:
        numbers = range(_process(numbers, findings), numbers.stop, numbers.step)
    return findings


def _process(numbers: range, findings: Findings) -> int:
    """Runs one process for as long as it lives; gives the first number that is left."""
    step = numbers.step
    command = [sys.executable, "-X", "faulthandler", *WORKER, str(numbers.start), str(numbers.stop), str(step)]
    pipe = subprocess.PIPE
    current, begun = numbers.start, f"{case_of(numbers.start)[0]}, not begun"
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=PROJECT, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines, complaints = _followed(process.stdout), _followed(process.stderr)
        while True:
            try:
                line = lines.get(timeout=_HUNG_SECONDS)
            except queue.Empty:
                process.kill()
                findings.wrong.append(f"{current} ({begun}): no end after {_HUNG_SECONDS:.0f} s")
                return current + step
            if line is None:
                break
            told = json.loads(line)
            current = told["number"]
            if "begins" in told:
                begun = told["begins"]
            else:
                findings.add(current, begun, told)
                current += step
        # Read to their end before the streams are closed: a closed stream would never say that it ended.
        words = "".join(iter(complaints.get, None))[-1500:]
        process.wait()
    if process.returncode:
        findings.wrong.append(f"{current} ({begun}): the process ended with {process.returncode}: {words}")
        return current + step
    return numbers.stop


def _followed(stream: IO[str]) -> queue.Queue[str | None]:
    lines: queue.Queue[str | None] = queue.Queue()

    def follow() -> None:
        for line in stream:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=follow, daemon=True).start()
    return lines
