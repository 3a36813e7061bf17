"""The command ``surefoot``, also as ``python -m surefoot``."""

from __future__ import annotations

import sys

from . import _engine

__all__ = ["main"]


def main() -> None:
    """Runs the command with the arguments of this process, and ends it with the exit code of the command."""
    sys.exit(_engine.command_line(["surefoot", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
