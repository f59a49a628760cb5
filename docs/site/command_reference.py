"""The reference of the command: a page a command, from what `fbp COMMAND --help` prints."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from c_reference import escaped

OPTION = re.compile(r"^ {2,6}(\S.*?)(?: {2,}(\S.*))?$")
TEXT_COLUMN = 28  # where the words about an option begin


def asked(fbp: str, *words: str) -> str:
    return subprocess.run(
        [fbp, *words], check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, encoding="utf-8"
    ).stdout


def options_of(lines: list[str]) -> list[tuple[str, str]]:
    """(option, words about it) of the lines of a list of options."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith(" " * TEXT_COLUMN):
            option, words = found[-1]
            found[-1] = (option, f"{words} {line.strip()}".strip())
        elif match := OPTION.match(line):
            found.append((match[1], match[2] or ""))
        else:
            raise ValueError(f"not a line of options: {line!r}")
    return found


def paragraphs(text: str) -> list[list[str]]:
    return [part.splitlines() for part in re.split(r"\n\s*\n", text.strip("\n"))]


def page_of(command: str, text: str) -> str:
    """The page of a command: its help text with headings, a table of options, examples as code."""
    about = text.split("\n", 1)[0].split(": ", 1)[1]
    out = [f"# fbp {command}", about[0].upper() + about[1:] + "."]
    for lines in paragraphs(text)[1:]:
        if lines[0].startswith("Usage: "):
            usage = "\n".join([lines[0].removeprefix("Usage: "), *lines[1:]])
            out.append(f"```\n{usage}\n```")
        elif lines[0] == "Examples:":
            examples = "\n".join(line.removeprefix("  ") for line in lines[1:])
            out.append(f"## Examples\n\n```\n{examples}\n```")
        elif lines[0].startswith("  ") or (lines[0].endswith(":") and lines[1:] and lines[1].startswith("  ")):
            heading = "Options" if lines[0].startswith("  ") else lines.pop(0).removesuffix(":")
            rows = [f"| `{o}` | {escaped(words)} |" for o, words in options_of(lines)]
            out.append("\n".join([f"## {heading}", "", "| | |", "|---|---|", *rows]))
        else:
            out.append(escaped(" ".join(line.strip() for line in lines)))
    return "\n\n".join(out) + "\n"


def commands_of(fbp: str) -> list[str]:
    """The commands of fbp, and of fbp-bench if that lies beside it."""
    bench = Path(fbp).with_name("fbp-bench")
    programs = [fbp, str(bench)] if bench.exists() else [fbp]
    return [command for one in programs for command in asked(one, "help", "--commands").splitlines()]


def make(fbp: str, folder: Path) -> None:
    """Write the pages of all commands, and index.md with a list of them."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for command in commands_of(fbp):
        text = asked(fbp, *command.split(), "--help-all")
        name = command.replace(" ", "-") + ".md"
        (folder / name).write_text(page_of(command, text), encoding="utf-8")
        about = text.split("\n", 1)[0].split(": ", 1)[1]
        rows.append(f"| [fbp {command}]({name}) | {escaped(about)} |")
    index = [
        "# The command",
        "",
        "What `fbp COMMAND --help-all` prints, and what the man pages have.",
        "",
        "| command | what it does |",
        "|---|---|",
        *rows,
    ]
    (folder / "index.md").write_text("\n".join(index) + "\n", encoding="utf-8")
