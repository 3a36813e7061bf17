"""The page of first steps, as somebody new runs it."""

import re

from conftest import ROOT


def test_the_tutorial(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/tutorial.md").read_text(), flags=re.DOTALL)
    names = {}
    for block in blocks:
        exec(compile(block, "tutorial.md", "exec"), names)
    printed = capsys.readouterr().out
    assert len(blocks) >= 8 and "20 answers:" in printed
    # XGBoost agrees with every action, and every proof of a letter is verified.
    assert "\nTrue\n" in printed and "['verified']" in printed and "wrong" not in printed
    assert (tmp_path / "letters/letters.html").exists()
