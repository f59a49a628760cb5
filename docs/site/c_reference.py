"""The reference of the C and C++ interface: a page a header, from its doc comments."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

WIDTH = 96
NAME = re.compile(r"`([^`]+)`|\b(?:fbp_\w+|FBP_\w+)\b(?:\(\))?")
SKIPPED = ("FBP_BEGIN", "FBP_END")
# What stands before the body of a function: arguments, and perhaps members that are initialized.
BODY = re.compile(r"\)(?:\s*(?:const|noexcept))*\s*(?::\s[^=]*)?$", re.S)
CONDITIONAL = re.compile(r"#\s*(?:if|ifdef|ifndef|elif|else|endif|include|undef)\b")


@dataclass
class Item:
    """Something that a header declares, and the comment before it."""

    kind: str  # function, struct, enum, type, macro
    name: str
    code: str
    comment: str
    constants: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """A macro may have the name of a struct."""
        return self.name.lower() + ("-macro" if self.kind == "macro" else "")


def comment_text(raw: str) -> str:
    """A doc comment without its stars."""
    lines = raw.removeprefix("/**").removesuffix("*/").splitlines()
    return "\n".join(re.sub(r"^\s*\*(?: |$)", "", line.rstrip()) for line in lines).strip("\n")


def declaration_end(text: str, start: int) -> int:
    """Where the declaration ends that begins at start: behind its semicolon, and behind a comment
    on the last of its lines."""
    depth, i = 0, start
    while True:
        if text.startswith("/*", i):
            i = text.index("*/", i) + 2
            continue
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        i += 1
        if text[i - 1] == ";" and depth == 0:
            behind = re.compile(r"[ \t]*/\*\*<.*?\*/", re.S).match(text, i)
            return behind.end() if behind else i


def macro_end(text: str, start: int) -> int:
    end = text.index("\n", start)
    while text[end - 1] == "\\":
        end = text.index("\n", end + 1)
    return end


def function_code(code: str) -> str:
    """A declaration of a function, without what only compilers read, in lines of WIDTH."""
    line = " ".join(re.sub(r"\bFBP_(?:API|MUST_CHECK)\b", "", code).split())
    indent = line.index("(") + 1
    if indent > WIDTH // 2:
        indent = 4
    return "\n".join(textwrap.wrap(line, WIDTH, subsequent_indent=" " * indent, break_long_words=False))


def item_of(code: str, comment: str) -> Item:
    plain = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    if match := re.match(r"#\s*define\s+(\w+)", plain):
        return Item("macro", match[1], code, comment)
    constants = ()
    if re.match(r"(?:typedef\s+)?enum\b", plain):
        inside = plain[plain.index("{") + 1 : plain.rindex("}")]
        constants = tuple(re.findall(r"\b(FBP_\w+)\s*(?==|,|$)", inside))
        match = re.search(r"enum\s+(\w+)", plain)
        return Item("enum", match[1] if match else constants[0], code, comment, constants)
    if match := re.match(r"struct\s+(\w+)\s*\{", plain):
        return Item("struct", match[1], code, comment)
    if plain.startswith("typedef"):
        match = re.search(r"(\w+)\s*(?:\([^)]*\))?\s*;$", plain, flags=re.S)
        return Item("type", match[1], code, comment)
    if match := re.search(r"(\w+)\s*\(", plain):
        return Item("function", match[1], function_code(plain), comment)
    raise ValueError(f"what is this? {code}")


def items_of(text: str) -> tuple[str, list[Item]]:
    """What a header says of itself, and what it declares, in its order."""
    about, comment, found, i, last = "", "", [], 0, 0
    while match := re.compile(r"\S").search(text, i):
        i = match.start()
        if text.startswith("/*", i):
            end = text.index("*/", i) + 2
            if text.startswith("/** @file", i):
                about = comment_text(text[i:end])
            elif text.startswith("/**", i):
                comment = comment_text(text[i:end])
        elif text[i] == "#":
            end = macro_end(text, i)
            # A macro without a comment is the compiler's matter.
            if not CONDITIONAL.match(text, i) and comment:
                found.append(item_of(text[i:end], comment))
                comment = ""
        elif word := next((w for w in SKIPPED if text.startswith(w, i)), None):
            end = i + len(word)
        else:
            end = declaration_end(text, i)
            # One comment serves for what stands below each other without an empty line.
            shared = found and last and not text[last:i].count("\n\n") and found[-1].comment
            found.append(item_of(text[i:end], comment or shared or ""))
            comment, last = "", end
        i = end
    return about, found


def escaped(text: str) -> str:
    """Words of a comment or a help text, in a page."""
    return re.sub(r"([\\`*_<>|\[\]#])", r"\\\1", text)


class Names:
    """Where each name is explained."""

    def __init__(self, pages: dict[str, list[Item]]) -> None:
        self.target: dict[str, str] = {}
        for page, items in pages.items():
            for item in items:
                for name in (item.name, *item.constants):
                    self.target.setdefault(name, f"{page}.md#{item.anchor}")

    def linked(self, text: str) -> str:
        """A line of a comment as Markdown: names lead to where they are explained."""
        out, end = [], 0
        for match in NAME.finditer(text):
            out.append(escaped(text[end : match.start()]))
            name = match[1] or match[0]
            target = self.target.get(name.removesuffix("()"))
            out.append(f"[`{name}`]({target})" if target else f"`{name}`")
            end = match.end()
        return "".join(out) + escaped(text[end:])


def comment_blocks(comment: str) -> list[list[str]]:
    """The paragraphs of a comment; what begins with "-", "@return" or a name and two blanks begins
    one of its own."""
    found: list[list[str]] = []
    new = True
    for line in re.sub(r"(?<=\S) +@return\b", "\n@return", comment).splitlines():
        if not line.strip():
            new = True
            continue
        code = line.startswith("    ") and (new or found[-1][0].startswith("    "))
        if new or not code and re.match(r"- |@\w+|\w[\w, ]*? {2,}\S", line):
            found.append([])
        found[-1].append(line)
        new = False
    return found


def block_text(lines: list[str], names: Names) -> str:
    first = lines[0]
    joined = " ".join(line.strip() for line in lines)
    if all(line.startswith("    ") for line in lines):
        return "```c\n" + textwrap.dedent("\n".join(lines)) + "\n```"
    if first.startswith("- "):
        return "- " + names.linked(joined[2:])
    if match := re.match(r"@param(?:\[\w+\])?\s+(\w+)\s+(.*)", joined):
        return f"- `{match[1]}`: {names.linked(match[2])}"
    if match := re.match(r"@(\w+) (.*)", joined):
        return f"**{match[1].capitalize()}s:** {names.linked(match[2])}"
    if match := re.match(r"([\w, ]+?) {2,}(\S.*)", joined):
        return f"- `{match[1]}`: {names.linked(match[2])}"
    return names.linked(joined)


def joined_blocks(texts: list[str]) -> str:
    """Paragraphs with empty lines between them, but none between the items of a list."""
    out = ""
    for text in texts:
        together = text.startswith("- ") and out.rpartition("\n")[2].startswith("- ")
        out += ("\n" if together else "\n\n") + text if out else text
    return out


def comment_page(comment: str, names: Names) -> str:
    return joined_blocks([block_text(lines, names) for lines in comment_blocks(comment)])


def page_of(header: str, about: str, items: list[Item], names: Names) -> str:
    about = re.sub(r"^\s*@file\s+\S+\s*", "", about)
    out = [f"# {header}", comment_page(about, names), f"```c\n#include <fbp/{header}>\n```"]
    for item in items:
        title = item.name + "()" if item.kind == "function" else item.name
        out.append(f"## {escaped(title)} {{ #{item.anchor} }}")
        out.append(f"```c\n{item.code}\n```")
        if item.comment:
            out.append(comment_page(item.comment, names))
    return "\n\n".join(out) + "\n"


def closing(text: str, start: int) -> int:
    """Behind the brace that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("a brace is not closed")


def without_bodies(text: str) -> str:
    """C++ whose functions are only declared."""
    out, head, i = [], 0, 0  # head: the piece of out in which this declaration begins
    while i < len(text):
        if text.startswith("/*", i):
            end = text.index("*/", i) + 2
        elif text[i] == "{" and BODY.search(opened := "".join(out[head:])):
            # What stands between the arguments and the body initializes members.
            declared = re.sub(r"(\)(?:\s*noexcept)?)\s*:\s.*", r"\1", opened, flags=re.S)
            out[head:] = [declared.rstrip(), ";"]
            i, head = closing(text, i), len(out)
            continue
        elif text[i] == "{" and opened.rstrip().endswith("="):  # a value
            end = closing(text, i)
        else:
            end = i + 1
        out.append(text[i:end])
        if text[i] in ";{}" and end == i + 1 or text.startswith("/*", i):
            head = len(out)
        i = end
    return "".join(out)


def cpp_public(text: str) -> str:
    """What fbp.hpp offers: comments and declarations, without bodies of functions and what is
    private."""
    text = text[text.index("{", text.index("namespace fbp")) + 1 : text.rindex("} // namespace")]
    text = re.sub(r"\n  (?:private|protected):\n.*?(?=\n  public:|\n};)", "", text, flags=re.S)
    text = re.sub(r" // NOLINT.*", "", without_bodies(text))
    return re.sub(r"\n\s*\n(?=};|\s*\n)", "\n", text).strip("\n")


def first_sentence(comment: str) -> str:
    paragraph = " ".join(comment.split("\n\n")[0].split())
    return re.split(r"(?<=[.?])\s|(?=;\s)|@return", paragraph)[0].strip()


def index_of(pages: dict[str, list[Item]], abouts: dict[str, str], names: Names) -> str:
    out = ["# The C and C++ interface", "", "`#include <fbp/fbp.h>` includes all headers but the last.", ""]
    out += ["| header | about |", "|---|---|"]
    for page in pages:
        about = re.sub(r"^\s*@file\s+\S+\s*", "", abouts[page]).split("\n\n")[0]
        out.append(f"| [{page}]({page}.md) | {names.linked(' '.join(about.split()))} |")
    out.append("| [fbp.hpp](fbp.hpp.md) | the same for C++17: handles that free themselves, exceptions |")
    for kind, title in (
        ("function", "Functions"),
        ("struct", "Structs"),
        ("enum", "Enumerations"),
        ("type", "Other types"),
        ("macro", "Macros"),
    ):
        found = {item.name: item for items in pages.values() for item in items if item.kind == kind}
        out += ["", f"## {title}", "", "| | |", "|---|---|"]
        for name, item in sorted(found.items()):
            about = names.linked(first_sentence(item.comment))
            out.append(f"| [`{name}`]({names.target[name]}) | {about} |")
    return "\n".join(out) + "\n"


def make(include: Path, folder: Path) -> None:
    """Write the pages of all headers in include/fbp, and index.md with all their names."""
    folder.mkdir(parents=True, exist_ok=True)
    pages: dict[str, list[Item]] = {}
    abouts: dict[str, str] = {}
    for header in sorted(include.glob("*.h")):
        if header.name != "fbp.h":
            abouts[header.name], pages[header.name] = items_of(header.read_text(encoding="utf-8"))
    names = Names(pages)
    for header, items in pages.items():
        (folder / f"{header}.md").write_text(page_of(header, abouts[header], items, names), encoding="utf-8")
    cpp = (include / "fbp.hpp").read_text(encoding="utf-8")
    about = comment_text(cpp[: cpp.index("*/") + 2])
    page = page_of("fbp.hpp", about, [], names) + f"\n```cpp\n{cpp_public(cpp)}\n```\n"
    (folder / "fbp.hpp.md").write_text(page, encoding="utf-8")
    (folder / "index.md").write_text(index_of(pages, abouts, names), encoding="utf-8")
