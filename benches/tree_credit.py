"""Recourse with proof for XGBoost models of the size that banks use, on four data sets.

    make bench-tree-credit        # prints the table

Names of data sets (adult, compas, german, bail) as arguments restrict it; a number asks about other than 100 people.

Models are trained on the columns as they are, on four of five rows; the people are some whom the model turns
down, of all rows. What may change, limits, standard deviations and causal graphs are those of the paper
(`credit_data.py`), with linear equations fitted by least squares; German and Bail have no causal model. Epsilon is
0.1 in the Euclidean norm, the gap 1%, the budget the default one. One core. A person is decided if it is proven
that there is no action, or if an action is found whose cost is within the gap of the proven bound. Every answer is asked for again by the command, with its
proof, and the proof is checked by `surefoot verify`. Times are those of the processor, so that other work on the
machine matters little, and contain what is prepared once for a problem.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost

os.environ["RAYON_NUM_THREADS"] = "1"
import surefoot as sf  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
from credit_data import DATA, ROOT, Data  # noqa: E402

COMMAND = ROOT / "target/dist/surefoot"
#: Trees and their depth.
SIZES = [(100, 4), (300, 6)]
EPSILON = 0.1
GAP = 0.01
PEOPLE = 100


def trained(data: Data, trees: int, depth: int) -> tuple[xgboost.XGBClassifier, np.ndarray, float]:
    """A model, all rows in a random order, and its accuracy on the fifth of them that it has not seen."""
    order = np.random.default_rng(0).permutation(len(data.people))
    held_out, seen = order[: len(order) // 5], order[len(order) // 5 :]
    model = xgboost.XGBClassifier(n_estimators=trees, max_depth=depth, learning_rate=0.1, random_state=0)
    model.fit(data.people.iloc[seen], data.favourable[seen].astype(int))
    right = model.predict(data.people.iloc[held_out]) == data.favourable[held_out]
    return model, order, float(right.mean())


def problem_file(folder: Path, data: Data, model: xgboost.XGBClassifier) -> Path:
    """Writes the problem with its model and its fitted equations."""
    model.save_model(folder / "model.json")
    lines = [f"epsilon = {EPSILON}"]
    for feature in data.features:
        assert feature.limits is not None
        lines += ["[[feature]]", f'name = "{feature.name}"', f'change = "{feature.change}"']
        lines += [f"mean = {feature.mean!r}", f"std = {feature.std!r}", f"limits = {[*feature.limits]!r}"]
    if data.graph:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sf.FitWarning)
            fitted = sf.CausalModel.fit(data.features, data.people, data.graph, held_out=0)
        for name, equation in fitted.equations.items():
            ((weight, bias),) = equation.layers
            lines += ["[[equation]]", f'feature = "{name}"', f"parents = {[*equation.parents]!r}"]
            lines += [f"coefficients = {np.ravel(weight).tolist()!r}", f"intercept = {np.ravel(bias)[0]}"]
    lines += ["[classifier]", 'trees = "model.json"']
    path = folder / "problem.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def answered(problem: sf.Problem, people: pd.DataFrame, accepted: pd.DataFrame) -> pd.DataFrame:
    """The answer of each person, with the seconds that it took."""
    rows = []
    for i in range(len(people)):
        # For a single person, `recourse` would also explain why there is no action, which takes time of its own.
        asked = pd.concat([people.iloc[[i]], accepted])
        start = time.process_time()
        answers = sf.recourse(problem, asked, gap=GAP)
        seconds = time.process_time() - start
        one = answers.to_pandas().iloc[0]
        rows.append({"seconds": seconds, **{name: one[name] for name in ("status", "cost", "cost_bound")}})
    return pd.DataFrame(rows)


def of_children() -> float:
    """The seconds of the processor that commands have taken so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def verified(folder: Path, people: pd.DataFrame, statuses: list[str]) -> tuple[int, float]:
    """How many of the proofs are verified, and the seconds that this took."""
    people.to_csv(folder / "people.csv", index=False)
    asked = ["recourse", "problem.toml", "people.csv", "-o", "answers.csv", "--proofs", "proofs.jsonl"]
    subprocess.run([COMMAND, *asked], cwd=folder, check=True, capture_output=True)
    if pd.read_csv(folder / "answers.csv").status.tolist() != statuses:
        raise SystemExit("the command and the package give different answers")
    start = of_children()
    done = subprocess.run(
        [COMMAND, "verify", "problem.toml", "proofs.jsonl"], cwd=folder, capture_output=True, text=True
    )
    seconds = of_children() - start
    if done.returncode:
        print(done.stdout, done.stderr, file=sys.stderr)
    if "none verified" in done.stdout:
        return 0, seconds
    counted = re.search(r"^(\d+) proofs?, (?:all )?verified:|, (\d+) verified:", done.stdout)
    if counted is None:
        raise SystemExit(f"surefoot verify said: {done.stdout}{done.stderr}")
    return int(counted[1] or counted[2]), seconds


def main() -> None:
    count = next((int(word) for word in sys.argv[1:] if word.isdigit()), PEOPLE)
    only = [word for word in sys.argv[1:] if not word.isdigit()]
    head = [
        "data", "trees", "depth", "accuracy", "people", "decided", "with an action", "mean gap", "largest gap",
        "median ms", "mean ms", "proofs verified", "checker ms each",
    ]  # fmt: skip
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for name, read in DATA.items():
        if only and name not in only:
            continue
        data = read()
        for trees, depth in SIZES:
            model, order, accuracy = trained(data, trees, depth)
            in_order = data.people.iloc[order]
            favourable = model.predict(in_order) == 1
            people, accepted = in_order[~favourable].head(count), in_order[favourable].head(1)
            with tempfile.TemporaryDirectory() as name_of_folder:
                folder = Path(name_of_folder)
                problem = sf.Problem.read(problem_file(folder, data, model))
                table = answered(problem, people, accepted)
                proofs, checking = verified(folder, people, table.status.tolist())
            found = table.status == "found"
            gaps = (1 - table.cost_bound / table.cost)[found]
            decided = (gaps <= GAP + 1e-6).sum() + (table.status == "impossible").sum()
            row = [
                name, trees, depth, f"{accuracy:.3f}", len(people), f"{decided / len(people):.0%}",
                f"{found.mean():.0%}", f"{gaps.mean():.2%}", f"{gaps.max():.2%}",
                f"{1000 * table.seconds.median():.1f}", f"{1000 * table.seconds.mean():.1f}",
                f"{proofs} of {len(people)}", f"{1000 * checking / len(people):.1f}",
            ]  # fmt: skip
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
