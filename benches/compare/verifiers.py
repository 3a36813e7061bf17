"""`certify` beside auto_LiRPA: the same actions of the published networks, the same balls, one thread each.

    python3 benches/compare/verifiers.py          # the networks of seed 0 trained as usual; the page is rewritten
    python3 benches/compare/verifiers.py --seed all --training ALLR adult      # others; the page is left alone
    python3 benches/compare/verifiers.py --actions 20 adult german             # quick

`cargo bench -p surefoot-paper --bench verdicts` chooses the actions and certifies them; `methods/auto_lirpa.py`,
in an environment of its own under target/bench, bounds their margins. The networks are looked for in the folder
that SUREFOOT_REFERENCE names, otherwise in shared/reference beside the checkout; without them nothing is done.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Optional

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = ROOT / "target/bench"
sys.path[:0] = [str(HERE), str(HERE.parent)]
import compare  # noqa: E402
import page  # noqa: E402

HEAD = [
    "data", "networks", "actions", "verifier", "proven", "broken", "undecided",
    "mean bound where Surefoot proves", "ms each",
]  # fmt: skip
SUREFOOT = "Surefoot"


def reference() -> Optional[Path]:
    """The folder of the published networks."""
    named = os.environ.get("SUREFOOT_REFERENCE")
    folders = [Path(named)] if named else [parent / "shared/reference" for parent in [ROOT, *ROOT.parents]]
    return next((folder for folder in folders if folder.is_dir()), None)


def mean(values: list[float]) -> Optional[float]:
    return sum(values) / len(values) if values else None


def row(
    data: str, networks: int, verifier: str, asked: list[dict[str, Any]], told: dict[str, Any]
) -> list[Any]:
    """A line of the table. `told` has the bound of each action, or nothing, and the seconds for all of them."""
    actions = len(asked)
    held = [position for position, action in enumerate(asked) if action["verdict"] == "holds"]
    if verifier == SUREFOOT:
        count = {
            verdict: sum(action["verdict"] == verdict for action in asked) for verdict in ("holds", "breaks")
        }
        proven, broken = count["holds"], count["breaks"]
    else:
        proven, broken = sum(bound is not None and bound >= 0 for bound in told["lower"]), 0
    bound = mean([told["lower"][position] for position in held if told["lower"][position] is not None])
    shares = [proven, broken, actions - proven - broken]
    return [
        data, networks, f"{actions:,}", verifier, *[compare.percent(share / actions) for share in shares],
        "-" if bound is None else f"{bound:.3f}", f"{1000 * told['seconds'] / actions:.2f}",
    ]  # fmt: skip


def table(files: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """Pairs of what the engine and what the other verifier say, summed up by data set."""
    by_data: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = defaultdict(list)
    for ours, theirs in files:
        by_data[ours["dataset"]].append((ours, theirs))
    rows, notes = [], []
    for data, pairs in by_data.items():
        asked = [action for ours, _ in pairs for action in ours["actions"]]
        milliseconds = sum(action["milliseconds"] for action in asked)
        ours = {"lower": [action["margin"] for action in asked], "seconds": milliseconds / 1000}
        rows.append(row(data, len(pairs), SUREFOOT, asked, ours))
        for name, title in TITLES.items():
            told = [theirs["methods"][name] for _, theirs in pairs]
            if any("error" in method for method in told):
                reason = next(method["error"] for method in told if "error" in method)
                notes.append(f"{title} does not bound {data}: `{reason}`.")
                continue
            joined = [bound for method in told for bound in method["lower"]]
            seconds = sum(method["seconds"] for method in told)
            rows.append(row(data, len(pairs), title, asked, {"lower": joined, "seconds": seconds}))
    return "\n\n".join([page.table(HEAD, rows), *notes])


TITLES = {
    "interval": "auto_LiRPA, interval",
    "CROWN": "auto_LiRPA, CROWN",
    "optimised CROWN": "auto_LiRPA, optimised CROWN",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", help="such as adult; all, and the page is written, if none")
    parser.add_argument("--actions", type=int, default=200, help="of each network")
    parser.add_argument("--seed", default="0", help="of the networks, or all")
    parser.add_argument("--training", default="ERM", help="such as ALLR")
    options = parser.parse_args()
    folder = reference()
    if folder is None:
        print("the published networks are not there: verifiers are not compared")
        return
    python, reason = compare.environment("auto_lirpa")
    if python is None:
        sys.exit(f"auto_LiRPA {reason}")
    verdicts, bounds = TARGET / "verdicts", TARGET / "bounds"
    for made in (verdicts, bounds):
        made.mkdir(parents=True, exist_ok=True)
        for file in made.glob("*.json"):
            file.unlink()
    words = [f"folder={verdicts}", f"actions={options.actions}", options.training, *options.data]
    words += [] if options.seed == "all" else [f"seed={options.seed}"]
    compare.engine("verdicts", *words)
    pairs = []
    for ours in sorted(verdicts.glob("*.json")):
        print(f"{ours.stem}: auto_LiRPA ...", flush=True)
        theirs = bounds / ours.name
        command = [python, HERE / "methods/auto_lirpa.py", folder, ours, theirs]
        subprocess.run(command, check=True)
        pairs.append((json.loads(ours.read_text()), json.loads(theirs.read_text())))
    if not pairs:
        sys.exit("there are no such networks")
    text = f"{page.machine()} {pairs[0][1]['version']}.\n\n{table(pairs)}"
    print(text)
    if not options.data and (options.actions, options.seed, options.training) == (200, "0", "ERM"):
        page.replace("verifiers", text)


if __name__ == "__main__":
    main()
