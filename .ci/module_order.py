"""Fails when a module of the engine uses one that `lib.rs` lists after it."""

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "crates" / "surefoot" / "src"


def code(path: Path) -> str:
    """The source of a file without comments and unit tests."""
    text = re.sub(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", "", path.read_text(), flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", text)


def names(text: str) -> set[str]:
    """The first names of all paths that start with `crate::`."""
    found = set(re.findall(r"\bcrate::(\w+)", text))
    for group in re.findall(r"\bcrate::\{([^;]*?)\};", text, flags=re.DOTALL):
        found |= set(re.findall(r"\w+", group))
    return found


def main() -> int:
    library = (SOURCE / "lib.rs").read_text()
    # Modules of tests may use everything.
    library = re.sub(r"#\[cfg\(test\)\]\n(?:#\[path[^\n]*\n)?mod \w+;", "", library)
    order = re.findall(r"^(?:pub )?mod (\w+);", library, re.MULTILINE)
    # Names that the root exports, with the modules they are from.
    exported = {}
    for module, group in re.findall(r"^pub use (\w+)::(\{[^}]*\}|\w+);", library, re.MULTILINE):
        exported.update((name, module) for name in re.findall(r"\w+", group))
    violations = []
    for position, module in enumerate(order):
        files = [SOURCE / f"{module}.rs", *sorted((SOURCE / module).rglob("*.rs"))]
        for file in files:
            if file.stem.endswith("tests"):
                continue
            for name in sorted(names(code(file))):
                used = name if name in order else exported.get(name)
                if used in order and order.index(used) > position:
                    violations.append(f"{file.relative_to(SOURCE)}: `{module}` uses `{used}`, which is listed after it")
    print("\n".join(violations) or f"{len(order)} modules use only those before them")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
