"""The page of results, `docs/performance.md`: parts of it are written by the benchmarks themselves.

Between `<!-- NAME -->` and `<!-- /NAME -->` stands what the benchmark of that name has found last.

    some benchmark | python3 benches/page.py NAME
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/performance.md"


def machine() -> str:
    """What the numbers were measured on, and when."""
    model = memory = "unknown"
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
        kilobytes = int(Path("/proc/meminfo").read_text().split()[1])
        memory = f"{kilobytes / 2**20:.0f} GB"
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    today = datetime.date.today().isoformat()
    return f"Measured {today} on {os.cpu_count()} cores of {model}, {memory}, {platform.system()} {platform.release()}."


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table; the first column is text, the others are numbers."""
    ruler = [":--", *["--:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, ruler, *rows])


def replace(name: str, text: str) -> None:
    """Puts what a benchmark has found into the page: whole, or not at all."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    page = PAGE.read_text()
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        sys.exit(f"{PAGE}: there is no part between {begin} and {end}")
    aside = PAGE.with_suffix(".partial")
    aside.write_text(f"{before}{begin}\n{text.strip()}\n{end}{after}")
    aside.replace(PAGE)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    text = sys.stdin.read()
    if not text.strip():
        sys.exit(f"{sys.argv[1]}: the benchmark has said nothing; the page stays as it is")
    print(text)
    replace(sys.argv[1], f"{machine()}\n\n{text}")


if __name__ == "__main__":
    main()
