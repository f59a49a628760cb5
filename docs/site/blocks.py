#!/usr/bin/env python3
"""blocks.py PAGE FOLDER: run what a page of the documentation tells its readers to run.

Blocks are run in their order, in FOLDER, as they stand on the page:

    ```sh                    by bash, which ends at the first command that fails
    ```python                all of a page in one namespace
    ```c title="volume.c"    is written to that file
    ```text                  must be what the block before has printed: the same words, and numbers
                             within 1 %; times may be any, and "…" stands for any words, or lines
    ```sh run="no"           is not run

The programs and packages of a page are found where the caller's PATH and so on say.  The exit status
is 1 if a block fails; the message names page and line.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(```+)(\w*)[ \t]*(.*)$")
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
TIME = re.compile(r"[\d.]+ (?:s|ms|us|GUPS)\b")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
TOLERANCE = 0.01


@dataclass
class Block:
    """A fenced block: its language, what stands behind that, its text, the line of its fence."""

    language: str
    attributes: dict[str, str]
    text: str
    line: int
    end: int  # the line of the closing fence


class Failed(Exception):
    """A block does not do what the page says."""


def blocks_of(page: str) -> list[Block]:
    """All fenced blocks of a page."""
    found, start, fence, kept = [], None, "", []
    for number, line in enumerate(page.splitlines(), 1):
        match = FENCE.match(line)
        if start is None and match:
            start, fence, kept = (number, match), match[1], []
        elif start is not None and line.strip() == fence:
            first, head = start
            attributes = dict(ATTRIBUTE.findall(head[3]))
            found.append(Block(head[2], attributes, "\n".join(kept) + "\n", first, number))
            start = None
        elif start is not None:
            kept.append(line)
    if start is not None:
        raise Failed(f"line {start[0]}: a block that does not end")
    return found


def matches(want: list[str], got: list[str], same: Callable[[str, str], bool]) -> bool:
    """Piece by piece; "…" is any number of pieces."""
    if not want:
        return not got
    if want[0].strip() == "…":
        return any(matches(want[1:], got[i:], same) for i in range(len(got) + 1))
    return bool(got) and same(want[0], got[0]) and matches(want[1:], got[1:], same)


def same_word(want: str, got: str) -> bool:
    """The same, but for numbers, which are about the same."""
    if NUMBER.sub("0", want) != NUMBER.sub("0", got):
        return False
    pairs = zip(map(float, NUMBER.findall(want)), map(float, NUMBER.findall(got)))
    return all(abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) for a, b in pairs)


def same_line(want: str, got: str) -> bool:
    want, got = TIME.sub("TIME", want), TIME.sub("TIME", got)
    return matches(want.split(), got.split(), same_word)


def same_text(want: list[str], got: list[str]) -> bool:
    return matches(want, got, same_line)


def run_shell(block: Block, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    if done.returncode != 0:
        raise Failed(f"exit status {done.returncode}:\n{done.stdout}")
    return done.stdout


def run_python(block: Block, names: dict[str, object], page: str) -> str:
    printed = io.StringIO()
    code = compile("\n" * block.line + block.text, page, "exec")  # lines are those of the page
    try:
        with contextlib.redirect_stdout(printed):
            exec(code, names)
    except Exception:
        raise Failed(traceback.format_exc()) from None
    return printed.getvalue()


def run(page: Path, folder: Path) -> int:
    """Run the blocks of a page; how many there were."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed, n_run = "", 0
    for block in blocks_of(page.read_text(encoding="utf-8")):
        try:
            if block.attributes.get("run") == "no":
                continue
            if block.language == "text":
                if not same_text(block.text.splitlines(), printed.splitlines()):
                    raise Failed(f"the page says\n{block.text}and it is\n{printed}")
                continue
            if "title" in block.attributes:
                (folder / block.attributes["title"]).write_text(block.text, encoding="utf-8")
            elif block.language == "sh":
                printed = run_shell(block, folder)
            elif block.language == "python":
                printed = run_python(block, names, str(page))
            else:
                raise Failed(f'a block of "{block.language}" has no title and cannot be run')
            n_run += 1
        except Failed as why:
            raise Failed(f"{page}:{block.line}: {why}") from None
    return n_run


def main() -> int:
    page, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    try:
        n_run = run(page, Path())
    except Failed as why:
        print(why, file=sys.stderr)
        return 1
    if n_run == 0:
        print(f"{page} has nothing to run", file=sys.stderr)
        return 1
    print(f"{page.name}: {n_run} blocks did what the page says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
