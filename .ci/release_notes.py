"""Prints the section of the changelog about a version: `release_notes.py 0.1.0`."""

import re
import sys
from pathlib import Path

version = sys.argv[1]
changelog = (Path(__file__).parent.parent / "CHANGELOG.md").read_text()
section = re.search(rf"^## {re.escape(version)}\b.*?\n(.*?)(?=^## |\Z)", changelog, flags=re.DOTALL | re.MULTILINE)
if section is None:
    sys.exit(f"CHANGELOG.md has no section `## {version}`")
print(section.group(1).strip())
