"""Counts instructions with callgrind and holds them against those kept in benches/counts.json.

    make bench-check                      # fails on a rise of more than 5%
    make bench-counts                     # the same counts into docs/performance.md
    python3 benches/counts.py accept      # the same, and keeps them, after a deliberate change

Counts do not depend on how busy the machine is. They are those of the AVX2 level, the best that valgrind
knows, on one thread. They do depend on the compiler, so the file says which it was.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import page  # noqa: E402

ROOT = page.ROOT
KEPT = ROOT / "benches/counts.json"
BENCH = ["cargo", "bench", "--quiet", "--locked", "-p", "surefoot-paper", "--bench", "counts"]
#: A rise by more than this share fails.
MOST = 0.05


def executable() -> str:
    """Builds what is counted."""
    command = [*BENCH, "--no-run", "--message-format", "json"]
    output = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    artifacts = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    made = [one["executable"] for one in artifacts if one.get("target", {}).get("name") == "counts"]
    return str(made[-1])


def count(program: str, name: str) -> int:
    """The instructions of one piece of work."""
    environment = {**os.environ, "SUREFOOT_SIMD": "avx2", "RAYON_NUM_THREADS": "1"}
    command = [
        "valgrind",
        "--tool=callgrind",
        "--toggle-collect=*counted_region*",
        "--callgrind-out-file=/dev/null",
    ]
    done = subprocess.run([*command, program, name], capture_output=True, text=True, env=environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or found is None or int(found[1]) == 0:
        sys.exit(f"{name} could not be counted:\n{done.stdout}{done.stderr}")
    return int(found[1])


def main() -> None:
    task = sys.argv[1] if len(sys.argv) == 2 else ""
    if task not in ("check", "accept", "page"):
        sys.exit(__doc__)
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed; on Debian and Ubuntu: apt-get install valgrind")
    program = executable()
    names = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    compiler = subprocess.run(
        ["rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"compiler": compiler, "instructions": {}}
    counts, rows, risen = {}, [], []
    # Counts do not mind company.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = pool.map(lambda name: count(program, name), names)
    for name, counts[name] in zip(names, counted):
        before = kept["instructions"].get(name)
        change = counts[name] / before - 1 if before else None
        told = "new" if change is None else f"{change:+.2%}"
        print(f"{name:<32} {counts[name]:>14,} {told:>9}", flush=True)
        rows.append([name.replace("_", " "), f"{counts[name]:,}"])
        if change is None or change > MOST:
            risen.append(f"{name}: {told}, {before or 0:,} before and {counts[name]:,} now")
    if task in ("page", "accept"):
        text = f"Instructions, by callgrind, on one thread at the AVX2 level, with {compiler}."
        page.replace("counts", f"{text}\n\n{page.table(['work', 'instructions'], rows)}")
    if task == "accept":
        kept = {"compiler": compiler, "instructions": counts}
        KEPT.write_text(json.dumps(kept, indent=2) + "\n")
    if task == "check":
        for name in kept["instructions"].keys() - counts.keys():
            risen.append(f"{name}: is kept in {KEPT.name} and no longer counted")
        if risen:
            if compiler != kept["compiler"]:
                print(f"counts were kept with {kept['compiler']}, this is {compiler}")
            print(f"more instructions than {KEPT.relative_to(ROOT)} has, by more than {MOST:.0%}:")
            print("\n".join(f"  {line}" for line in risen))
            sys.exit(
                "if that is meant: python3 benches/counts.py accept, and commit the file with the reason"
            )


if __name__ == "__main__":
    main()
