#!/usr/bin/env python3
"""snippets.py SOURCE WORK: check that each block of C and C++ on the pages of the documentation, and
the example of fbp.hpp, compiles with the public headers and without warnings.

A block with main() is a whole program.  Other blocks are fragments: snippets.h declares the names
that they use, a line "..." separates functions from statements, and a block without such a line is
statements only.  The exit status is 1 if a block does not compile; the message has page and line.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LANGUAGES = {"c": ["cc", "-std=c11"], "cpp": ["c++", "-std=c++17"]}
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
# Fragments leave out checks of results, and do not use everything that they declare.
OF_FRAGMENTS = ["-Wno-unused-variable", "-Wno-unused-but-set-variable", "-Wno-unused-result",
                "-Wno-unused-function"]  # fmt: skip
BLOCK = re.compile(r"^```(c|cpp)\b[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"(?:^ \*     .*\n)+", re.MULTILINE)


def blocks_of(path: Path) -> list[tuple[str, int, str]]:
    """Language, line number of the first line, and text of each block of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".hpp":
        found = EXAMPLE.search(text)
        assert found, f"{path}: no example"
        example = re.sub(r"^ \*     ", "", found[0], flags=re.MULTILINE)
        return [("cpp", text.count("\n", 0, found.start()) + 1, example)]
    return [
        (m[1], text.count("\n", 0, m.start(2)) + 1, m[2]) for m in BLOCK.finditer(text)
    ]


def program_of(language: str, name: str, line: int, text: str) -> tuple[str, list[str]]:
    """Source and options of a block; the compiler's messages name the page."""
    if "main(" in text:
        return f'#line {line} "{name}"\n{text}', []
    functions, dots, statements = text.partition("\n...\n")
    if not dots:
        functions, statements = "", text
    after = line + functions.count("\n") + (2 if dots else 0)
    nothing = "" if language == "cpp" else "void"
    return (
        f'#include "snippets.h"\n#line {line} "{name}"\n{functions}\n'
        f"void fragment({nothing});\nvoid fragment({nothing})\n{{\n"
        f'#line {after} "{name}"\n{statements}\n}}\n',
        OF_FRAGMENTS,
    )


def compiles(source: Path, work: Path, path: Path, block: tuple[str, int, str]) -> bool:
    language, line, text = block
    name = str(path.relative_to(source))
    program, options = program_of(language, name, line, text)
    file = work / f"snippet.{language}"
    file.write_text(program, encoding="utf-8")
    folders = [f"-I{source / 'include'}", f"-I{Path(__file__).parent}"]
    done = subprocess.run(
        [*LANGUAGES[language], *WARNINGS, *options, *folders, "-fsyntax-only", str(file)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        print(f"{name}:{line}: this block does not compile:\n{done.stderr}", file=sys.stderr)
    return done.returncode == 0


def main() -> int:
    source, work = Path(sys.argv[1]), Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    pages = [source / "README.md", *sorted((source / "docs").glob("*.md")),
             source / "include/fbp/fbp.hpp"]  # fmt: skip
    blocks = [(page, block) for page in pages for block in blocks_of(page)]
    for page in ("README.md", "docs/library.md", "docs/first-c.md", "include/fbp/fbp.hpp"):
        if not any(path == source / page for path, _ in blocks):
            print(f"{page}: no block was found", file=sys.stderr)
            return 1
    results = [compiles(source, work, path, block) for path, block in blocks]
    print(f"{sum(results)} of {len(results)} blocks compile")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
