"""``python -m tests.fuzz [COUNT] [FIRST]``: reads damaged files of all formats; ends with 1 if a read went wrong."""

from __future__ import annotations

import sys
import time

from tests.fuzz.runner import fuzz


def main(arguments: list[str]) -> int:
    """Prints how the reads ended."""
    count = int(arguments[0]) if arguments else 2000
    first = int(arguments[1]) if len(arguments) > 1 else 0
    start = time.monotonic()
    findings = fuzz(range(first, first + count))
    lines = [f"{number:6} {ending}" for ending, number in findings.endings.most_common()]
    lines += [f"WRONG  {text}" for text in findings.wrong]
    lines.append(f"{count} damaged files, {len(findings.wrong)} wrong, {time.monotonic() - start:.0f} s")
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if findings.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
