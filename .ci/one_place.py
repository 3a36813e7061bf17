"""Fails when code distinguishes kinds of norms, models, operators or methods in a second place.

Each kind is a file of its own behind a trait; only the place that lists the kinds may name them.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENGINE = "crates/surefoot/src/"
# Patterns of code that distinguishes kinds, and the files that may contain it.
RULES = [
    ("norms", r"\bNormKind::\w+", [ENGINE + "uncertainty/norm.rs"]),
    (
        "kinds of classifiers",
        r"\bClassifierForm::\w+[^;,\n]*=>|\bmatches!\([^;]*\bClassifierForm::",
        # Python has constructors of its own for linear models, networks and files of other programs.
        ["crates/surefoot-py/src/parts.rs"],
    ),
    (
        "operators",
        r"\bElements::\w+",
        [ENGINE + "graph/operator.rs", ENGINE + "graph/operator/", ENGINE + "verify/tape.rs"],
    ),
    (
        "methods",
        r'"(?:exact|complete|descent)"(?! \}\))',
        # Features that are exact have a field of this name.
        [ENGINE + "recourse/method.rs", ENGINE + "problem/uncertainty/person.rs"],
    ),
]


def code(path: Path) -> str:
    """The source of a file without comments and unit tests."""
    text = re.sub(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", "", path.read_text(), flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", text)


def main() -> int:
    found = []
    # The crates of random problems and of the fuzzer are tests.
    for crate in ["surefoot", "surefoot-cli", "surefoot-py", "surefoot-paper"]:
        for file in sorted((ROOT / "crates" / crate / "src").rglob("*.rs")):
            place = str(file.relative_to(ROOT))
            if file.stem.endswith("tests"):
                continue
            text = code(file)
            for kinds, pattern, allowed in RULES:
                if not any(place.startswith(start) for start in allowed):
                    found += [f"{place}: this distinguishes {kinds}: {m[0]}" for m in re.finditer(pattern, text)]
    print("\n".join(found) or "each kind is distinguished in one place")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
