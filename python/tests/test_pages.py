"""The README and the pages on commands: what they show works, and they leave nothing out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import surefoot

ROOT = Path(__file__).parents[2]
PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs/commands").glob("*.md"))
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
DOCUMENTS += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))


def code_blocks(text: str, language: str) -> list[str]:
    blocks: list[str] = re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return blocks


@pytest.mark.parametrize("document", ["README.md", *PAGES])
def test_shell_blocks_run(command: str, examples: Path, tmp_path: Path, document: str) -> None:
    blocks = code_blocks((ROOT / document).read_text(), "sh")
    assert blocks or document.endswith("commands/README.md")
    shutil.copytree(examples, tmp_path / "examples")
    path = os.pathsep.join([str(Path(command).resolve().parent), os.environ.get("PATH", "")])
    for block in blocks:
        script = ["bash", "-euo", "pipefail", "-c", block]
        done = subprocess.run(script, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True)
        assert done.returncode == 0, f"{block}\n{done.stderr.decode()}"


def test_every_command_and_option_has_its_page(command: str) -> None:
    def usage(*words: str) -> str:
        return subprocess.run([command, *words, "--help"], check=True, capture_output=True, text=True).stdout

    names = re.findall(r"^  ([a-z][a-z-]*)  ", usage().partition("Options:")[0], flags=re.MULTILINE)
    names.remove("help")
    assert {f"docs/commands/{name}.md" for name in names} | {"docs/commands/README.md"} == set(PAGES)
    index = (ROOT / "docs/commands/README.md").read_text()
    glossary = (ROOT / "docs/glossary.md").read_text()
    for name in names:
        page = (ROOT / f"docs/commands/{name}.md").read_text()
        assert f"[`{name}`]({name}.md)" in index
        texts = [usage(name)]
        texts += [usage(name, part) for part in ("list", "fetch") if name == "data"]
        options = re.findall(r"^ {2,6}(?:-\w, )?(--[a-z][a-z0-9-]*)", "\n".join(texts), flags=re.MULTILINE)
        for option in set(options) - {"--help"}:
            assert f"`{option}" in page, f"{option} is not on the page of {name}"
            assert f"`{option}`" in glossary, f"{option} is not in the glossary"


def anchors(text: str) -> set[str]:
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings: list[str] = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    text = re.sub(r"^```.*?^```", "", (ROOT / document).read_text(), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / document).parent / path if path else ROOT / document
        assert target.exists(), f"{link} does not exist"
        if anchor:
            assert anchor in anchors(target.read_text()), f"{link}: there is no such heading"


def test_the_readme_is_read_in_three_minutes() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 700


@pytest.mark.parametrize("table", ["recourse", "certify", "attack"])
def test_the_glossary_has_the_columns_of_the_engine(table: str) -> None:
    glossary = (ROOT / "docs/glossary.md").read_text()
    section = glossary.partition(f"## Columns of `{table}`")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(.*?)` \| (.*?) \| (.*) \|$", section, flags=re.MULTILINE)
    assert rows == surefoot._engine.report_columns(table)
