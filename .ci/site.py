"""Assembles the pages of the documentation site in `target/site/pages`, and builds it with `--build`.

Pages of the repository link to files as they lie in it. On the site, links among pages stay, the examples lie beside the
pages, and links to other files of the repository become plain text. The references of Python and of the command line
are generated: from docstrings, and from what the command says of itself.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SITE = ROOT / "target/site"
PAGES = SITE / "pages"
#: Pages outside of docs, and pages that are called otherwise on the site.
RENAMED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "docs/README.md": "pages.md",
    "docs/commands/README.md": "commands/index.md",
}
#: Objects of the Python reference, in sections. Every public name is in one of them.
SECTIONS: dict[str, list[str]] = {
    "Answers": ["recourse", "recourse_batches", "trade_off", "Answers", "Answer", "TradeOff", "Table"],
    "Proofs and judgements": ["verify", "certify", "attack", "theory", "Verification", "Actions", "Theory"],
    "Problems": ["Problem", "Feature", "features", "Uncertainty"],
    "Classifiers": ["Classifier", "Committee"],
    "Causal models": ["CausalModel", "Equation", "FittedEquation", "causal_graphs", "read_graph", "write_graph"],
    "Letters and audits": ["letters", "Letters", "Letter", "audit", "Audit"],
    "Pictures": ["plot_margin", "Picture"],
    "The command line": [
        "run", "init", "validate", "coverage", "reproduce", "list_data", "fetch_data", "demo", "Report",
    ],
    "scikit-learn and Spark": ["sklearn.RecourseExplainer", "spark.recourse", "spark.schema"],
    "Errors and warnings": [
        "Error", "FeatureError", "PeopleError", "CausalModelError", "ClassifierError", "SettingError", "TrainingError",
        "FileError", "MissingPackageError", "FitWarning", "TrainingWarning",
    ],
    "Former names": ["train", "fit"],
}  # fmt: skip


def place(path: str) -> str | None:
    """Where a file of the repository is on the site; None if it is not there."""
    if path in RENAMED:
        return RENAMED[path]
    if path.startswith("docs/") and Path(path).suffix in (".md", ".svg", ".json"):
        return path[len("docs/") :]
    if path.startswith("examples/"):
        return f"files/{path}"
    return None


def linked(text: str, page: str) -> str:
    """The text of a page with links as the site has them."""

    def link(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, _, anchor = target.partition("#")
        whole = (ROOT / page).parent / path
        relative = str(whole.resolve().relative_to(ROOT))
        if whole.is_dir():
            relative += "/problem.toml" if (whole / "problem.toml").exists() else "/README.md"
        there = place(relative)
        if there is None or not (ROOT / relative).exists():
            return words
        here = Path(place(page) or "").parent
        up = "../" * len(here.parts)
        return f"[{words}]({up}{there}{'#' + anchor if anchor else ''})"

    # Code keeps its brackets.
    parts = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    pattern = re.compile(r"(?<!\!)\[((?:[^\[\]]|`[^`]*`)*)\]\(([^)\s]+)\)")
    return "".join(part if part.startswith("```") else pattern.sub(link, part) for part in parts)


def python_reference() -> str:
    lines = ["# Python", "", "Everything that `import surefoot as sf` has, from its docstrings; every example is run by a test.", ""]
    for title, names in SECTIONS.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += [f"::: surefoot.{name}", ""]
    return "\n".join(lines)


def command_reference() -> str:
    def told(*words: str) -> str:
        done = subprocess.run([sys.executable, "-m", "surefoot", *words, "--help"], capture_output=True, text=True, check=True)
        return done.stdout

    names = re.findall(r"^  ([a-z][a-z-]*)  ", told().partition("Options:")[0], flags=re.MULTILINE)
    lines = ["# Command line", "", "What each command says of itself with `--help`. [Pages with examples](../commands/index.md).", ""]
    for name in names:
        if name == "help":
            continue
        lines += [f"## surefoot {name}", "", "```text", told(name).strip(), "```", ""]
        if name == "data":
            for part in ("list", "fetch"):
                lines += [f"### surefoot {name} {part}", "", "```text", told(name, part).strip(), "```", ""]
    return "\n".join(lines)


def assemble() -> None:
    shutil.rmtree(SITE, ignore_errors=True)
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "docs", "examples", "*.md"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    for path in filter(None, tracked):
        there = place(path)
        if there is None:
            continue
        (PAGES / there).parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            (PAGES / there).write_text(linked((ROOT / path).read_text(), path))
        else:
            shutil.copy(ROOT / path, PAGES / there)
    (PAGES / "reference").mkdir(exist_ok=True)
    (PAGES / "reference/python.md").write_text(python_reference())
    (PAGES / "reference/command-line.md").write_text(command_reference())
    commands = sorted(path.name for path in (PAGES / "commands").glob("*.md") if path.name != "index.md")
    pages = ["commands/index.md", *(f"commands/{name}" for name in commands)]
    settings = (ROOT / "mkdocs.yml").read_text().replace("COMMANDS", f"[{', '.join(pages)}]")
    if (ROOT / "docs/http.md").exists():
        settings = settings.replace("      - Problem file: problem.md", "      - HTTP: http.md\n      - Problem file: problem.md")
    settings = re.sub(r"^(docs_dir|site_dir): target/site/", r"\1: ", settings, flags=re.MULTILINE)
    settings = settings.replace("paths: [python]", f"paths: [{ROOT / 'python'}]")
    (SITE / "mkdocs.yml").write_text(settings)


def main() -> int:
    assemble()
    if "--build" not in sys.argv:
        return 0
    return subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"], cwd=SITE).returncode


if __name__ == "__main__":
    sys.exit(main())
