"""Surefoot beside what people would use instead, on this machine and in one run.

    make bench-compare                                  # everything; the page is rewritten
    python3 benches/compare/compare.py --seconds 5 --people 50 loan-network     # quick; the page is left alone

Makes an environment for each package (`requirements/NAME.txt`, under target/bench), trains the
classifiers, asks every method about the same people, judges all actions alike, and writes the tables of
docs/performance.md. What cannot be installed or run is reported with its error.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = ROOT / "target/bench"
sys.path.insert(0, str(HERE.parent))
import page  # noqa: E402

#: Environment, and which of its methods there are. Ours come first: costs are told relative to them.
METHODS = [
    ("surefoot", "ours"),
    ("torch", "algorithm_1"),
    ("relax", "relax"),
    ("torch", "dice"),
    ("alibi", "alibi"),
]
TITLES = {"algorithm_1": "PyTorch, Algorithm 1", "relax": "ReLax", "dice": "DiCE", "alibi": "alibi"}
#: Not every peer has packages for the newest Python.
INTERPRETERS = ["python3.11", "python3.10", "python3.12", "python3"]
#: Where others are needed.
OLDER = {"auto_lirpa": ["python3.10", "python3.9", "python3.8"]}
#: So many times as long should others take.
GOAL = 20
#: To begin and to compile, beyond the seconds of each method.
GRACE = 180


def last_words(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it ended without a word"


def runs(interpreter: str) -> bool:
    """Whether there is such an interpreter; launchers may be there without it."""
    command = [interpreter, "-c", "import venv"]
    return bool(shutil.which(interpreter)) and not subprocess.run(command, capture_output=True).returncode


def environment(name: str) -> tuple[Optional[Path], str]:
    """The interpreter of an environment, made if it is not there; or why it cannot be."""
    requirements = HERE / f"requirements/{name}.txt"
    folder = TARGET / name
    stamp = folder / "installed"
    python = folder / "bin/python"
    if not stamp.exists() or stamp.read_text() != requirements.read_text():
        print(f"installing {name} ...", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        interpreter = next(filter(runs, OLDER.get(name, [*INTERPRETERS, sys.executable])), None)
        if interpreter is None:
            return None, f"cannot be installed: there is none of {', '.join(OLDER[name])}"
        subprocess.run([interpreter, "-m", "venv", folder], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--requirement", requirements]
        done = subprocess.run(install, capture_output=True, text=True)
        if done.returncode:
            return None, f"cannot be installed: {last_words(done.stderr)}"
        stamp.write_text(requirements.read_text())
    if name == "surefoot":
        wheels = sorted((TARGET / "wheels").glob("*.whl"))
        if not wheels:
            sys.exit("there is no wheel in target/bench/wheels; `make bench-compare` builds it")
        again = ["--quiet", "--no-deps", "--force-reinstall"]
        subprocess.run([python, "-m", "pip", "install", *again, wheels[-1]], check=True)
    return python, ""


def engine(program: str, *arguments: object) -> None:
    """A part of the comparison that is written in Rust."""
    command = ["cargo", "bench", "--quiet", "--locked", "-p", "surefoot-paper", "--bench", program, "--"]
    subprocess.run([*command, *map(str, arguments)], cwd=ROOT, check=True)


def descent(case: Path, folder: Path) -> Path:
    """Our own Algorithm 1, which only the engine has."""
    results = []
    for epsilon in (0.0, 0.1):
        answers = folder / "descent.json"
        engine("compare", "descent", case, epsilon, answers)
        told = json.loads(answers.read_text())
        note = f"{os.cpu_count()} threads; not proved"
        results.append({"method": "Surefoot, Algorithm 1", "epsilon": epsilon, **told, "note": note})
    found = folder / "engine.json"
    found.write_text(json.dumps(results))
    return found


def ask(case: Path, folder: Path, seconds: float, interpreters: dict[str, Any]) -> list[dict[str, Any]]:
    """Every method about one case; and what all of that is worth."""
    files: list[Path] = []
    silent: list[dict[str, Any]] = []
    for name, method in METHODS:
        python, reason = interpreters[name]
        found = folder / f"{method}.json"
        found.unlink(missing_ok=True)
        if python is not None:
            print(f"{case.stem}: {method} ...", flush=True)
            command = [python, HERE / f"methods/{method}.py", case, found, str(seconds)]
            # Everything else is held against ours.
            limit = None if method == "ours" else 8 * seconds + GRACE
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
                reason = "" if found.exists() else last_words(done.stderr)
            except subprocess.TimeoutExpired:
                reason = f"was stopped after {limit:.0f} seconds"
        if reason and method == "ours":
            sys.exit(f"{case.stem}: Surefoot does not run: {reason}")
        if reason:
            silent.append({"method": TITLES.get(method, method), "epsilon": 0.0, "people": 0, "note": reason})
            continue
        files.append(found)
        if method == "ours":
            files.append(descent(case, folder))
    judged = folder / "judged.json"
    python, _ = interpreters["surefoot"]
    subprocess.run([python, HERE / "judge.py", case, judged, *files], check=True)
    return json.loads(judged.read_text()) + silent


def fewer(case: Path, folder: Path, people: int) -> Path:
    """The same case with fewer people."""
    stored = json.loads(case.read_text())
    stored["people"] = stored["people"][:people]
    path = folder / case.name
    path.write_text(json.dumps(stored))
    return path


def percent(share: Optional[float]) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def number(value: Optional[float]) -> str:
    return "-" if value is None else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def pace(one: dict[str, Any]) -> Optional[float]:
    """Seconds for a thousand people; nothing where nobody was answered."""
    return 1000 * one["seconds"] / one["people"] if one["people"] else None


def is_ours(one: dict[str, Any]) -> bool:
    return one["method"].startswith("Surefoot")


def ahead(one: dict[str, Any], found: list[dict[str, Any]]) -> Optional[tuple[float, str]]:
    """How many times as long as Surefoot a method takes, and which of ours that is: the fastest that has
    valid actions for as many of the same people, at no higher cost."""
    alike = [ours for ours in found if is_ours(ours) and ours["epsilon"] == one["epsilon"]]
    matching = [ours for ours in alike if ours["method"] in one["matched_by"]]
    best = min(matching, key=pace, default=None)
    return None if best is None else (pace(one) / pace(best), best["method"])


def tables(results: dict[str, list[dict[str, Any]]], seconds: float) -> str:
    """The part of the page."""
    head = [
        "method", "epsilon", "people asked", "seconds per 1,000", "times Surefoot's", "valid", "mean cost",
        "cost / ours", "proven at 0.1", "withstand attack at 0.1",
    ]  # fmt: skip
    parts = [
        f"{page.machine()} Methods that answer one after the other had {seconds:.0f} seconds for each case."
    ]
    for case, found in results.items():
        rows, notes, standing = [], [], []
        for one in found:
            if not one["people"]:
                rows.append([one["method"], one["epsilon"], "none", *["-"] * 7])
                notes.append(f"{one['method']} gave no answers: `{one['note']}`")
                continue
            times = None if is_ours(one) else ahead(one, found)
            rows.append([
                one["method"], one["epsilon"], f"{one['people']:,}", number(pace(one)),
                "-" if times is None else number(times[0]),
                percent(one["valid"]), number(one["cost"]), number(one.get("dearer")),
                percent(one.get("proven")), percent(one.get("withstands")),
            ])  # fmt: skip
            notes.append(f"{one['method']}, epsilon {one['epsilon']}: {one['note']}")
            if times is None and not is_ours(one):
                standing.append(f"{one['method']} at {one['epsilon']} (none of ours matches it)")
            if times is not None and times[0] < GOAL:
                standing.append(f"{one['method']} at {one['epsilon']} ({number(times[0])}, {times[1]})")
        behind = "; ".join(standing) or "none"
        parts += [f"### {case}", page.table(head, rows)]
        parts.append(
            f"Less than {GOAL} times as long as Surefoot at equal or better validity and cost: {behind}."
        )
        parts.append(
            "<details><summary>Settings and versions</summary>\n\n- " + "\n- ".join(notes) + "\n\n</details>"
        )
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="for each method and case")
    parser.add_argument(
        "cases", nargs="*", help="such as loan-network; all, and the page is written, if none"
    )
    parser.add_argument("--people", type=int, help="ask only about so many of each case")
    parser.add_argument(
        "--environment", action="store_true", help="make the environment of the package, no more"
    )
    options = parser.parse_args()
    if options.environment:
        python, reason = environment("surefoot")
        sys.exit(0 if python else reason)
    folder = TARGET / "cases"
    engine("compare", "prepare", folder)
    interpreters = {name: environment(name) for name in dict(METHODS)}
    results = {}
    for case in sorted(folder.glob("*.json")):
        if options.cases and case.stem not in options.cases:
            continue
        found = TARGET / "found" / case.stem
        found.mkdir(parents=True, exist_ok=True)
        if options.people is not None:
            case = fewer(case, found, options.people)
        results[case.stem] = ask(case, found, options.seconds, interpreters)
        print(tables({case.stem: results[case.stem]}, options.seconds), flush=True)
    text = tables(results, options.seconds)
    (TARGET / "compare.md").write_text(text)
    if not options.cases and options.people is None:
        page.replace("compare", text)


if __name__ == "__main__":
    main()
