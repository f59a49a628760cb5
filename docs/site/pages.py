#!/usr/bin/env python3
"""pages.py SOURCE FBP OUT: the pages of the site, for MkDocs.

docs/*.md as they are, but for what only a site needs: links to other files of the tree lead to where
the site has them, and below a block of commands stands what it has drawn.  Beside them the reference
of the command, of C and of Python, and the notebooks with their outputs.  Needs nbclient and
ipykernel, and on PYTHONPATH the package libfbp.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import struct
import sys
from pathlib import Path

import blocks
import c_reference
import command_reference
import notebooks
import python_reference

LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
FILE_NAME = re.compile(r"\[(?:docs/)?([\w-]+\.md)\]")
DRAWN = re.compile(r"[\w-]+\.(?:png|svg)\b")
# Pages whose blocks are run: all their drawings are made, and what they print is as they say.
RUN = ("first-command.md", "first-c.md", "first-python.md", "which-geometry.md", "gallery.md", "beyond.md")
# Where the site has other files and folders of the tree.
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "include/fbp": "reference/c/index.md",
    "bindings/python": "reference/python.md",
}


def outside_fences(text: str, change) -> str:
    """Apply change to the text between the blocks of code of a page."""
    code = set()
    for block in blocks.blocks_of(text):
        code.update(range(block.line, block.end + 1))
    lines = enumerate(text.splitlines(), 1)
    parts = [(is_code, "\n".join(line for _, line in part))
             for is_code, part in itertools.groupby(lines, lambda line: line[0] in code)]
    return "\n".join(part if is_code else change(part) for is_code, part in parts) + "\n"


def title_of(source: Path, page: str) -> str:
    text = (source / "docs" / page).read_text(encoding="utf-8")
    return text.splitlines()[0].removeprefix("# ")


class Links:
    """Links of a page to files of the tree, as the site has them."""

    def __init__(self, source: Path, pages: Path, folder: str) -> None:
        self.source, self.pages, self.folder = source, pages, folder

    def target(self, link: str) -> str:
        path, hash_, part = link.partition("#")
        if not path or re.match(r"[a-z]+:", link):
            return link
        in_tree = os.path.normpath(os.path.join(self.folder, path))
        if in_tree in ELSEWHERE:
            return ELSEWHERE[in_tree] + hash_ + part
        if in_tree.startswith("docs/"):
            inside = in_tree.removeprefix("docs/")
            return re.sub(r"\.ipynb$", ".md", inside) + hash_ + part
        if (self.source / in_tree).is_file():  # as text, which browsers show
            copy = self.pages / "files" / f"{in_tree}.txt"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.source / in_tree, copy)
            return f"files/{in_tree}.txt"
        return in_tree  # MkDocs says that there is no such page

    def changed(self, text: str) -> str:
        def replace(match: re.Match[str]) -> str:
            words = match[1]
            if name := FILE_NAME.fullmatch(words):  # a reader of the site sees titles, not files
                words = f"[{title_of(self.source, name[1])}]"
            return f"{words}({self.target(match[2])})"

        return outside_fences(text, lambda part: LINK.sub(replace, part))


def aspect(picture: Path) -> float:
    """Width over height; of drawings, which are wide, 2."""
    if picture.suffix != ".png":
        return 2.0
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width / height


def figures(names: list[str], work: Path, folder: Path, pages: Path, caption: str) -> list[str]:
    """Pictures as lines of a page, those that are not wide beside each other, and their caption."""
    folder.mkdir(parents=True, exist_ok=True)
    narrow = sum(aspect(work / name) < 2 for name in names)
    out = [""]
    for name in names:
        shutil.copyfile(work / name, folder / name)
        share = 100 if aspect(work / name) >= 2 else max(32, 98 // narrow)
        where = (folder / name).relative_to(pages)
        out.append(f'![{caption}]({where}){{ style="max-width:{share}%" }}')
    return [*out, "", caption, "{: .caption }", ""]


def with_drawings(text: str, page: str, work: Path, pages: Path) -> str:
    """The page, with what a block has drawn below it."""
    lines, found = text.splitlines(), blocks.blocks_of(text)
    for block, behind in reversed(list(zip(found, [*found[1:], None]))):
        lines[block.line - 1] = re.sub(r' (?:run|picture)="[^"]*"', "", lines[block.line - 1])
        if caption := block.attributes.get("picture"):
            names = list(dict.fromkeys(DRAWN.findall(block.text)))
            folder = pages / "drawings" / page.removesuffix(".md")
            printed = behind is not None and (behind.language, behind.line) == ("text", block.end + 2)
            end = behind.end if printed else block.end
            lines[end:end] = figures(names, work, folder, pages, caption)
    return "\n".join(lines) + "\n"


def run_page(page: Path, work: Path) -> None:
    """Run the blocks of a page in work, which becomes empty first."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "build").mkdir(parents=True)
    (work / "build" / "release").symlink_to(os.environ["FBP_SITE_BUILD"])  # as in the tree
    here = Path.cwd()
    os.chdir(work)
    try:
        blocks.run(page, Path())
    finally:
        os.chdir(here)


def make_pages(source: Path, out: Path, pages: Path) -> None:
    found = {f"docs/{p.name}": p.name for p in sorted((source / "docs").glob("*.md"))}
    found.update({name: to for name, to in ELSEWHERE.items() if to in ("changelog.md", "contributing.md")})
    for path, to in found.items():
        text = (source / path).read_text(encoding="utf-8")
        if to in RUN:
            print(f"site: running {path}", file=sys.stderr)
            run_page(source / path, out / "runs" / to.removesuffix(".md"))
        text = Links(source, pages, os.path.dirname(path)).changed(text)
        text = with_drawings(text, to, out / "runs" / to.removesuffix(".md"), pages)
        (pages / to).write_text(text, encoding="utf-8")


def link_names_of_pages(reference: Path, source: Path) -> None:
    """Comments and help texts name pages as files of the tree: docs/scan.md."""
    for page in reference.rglob("*.md"):
        up = os.path.relpath(reference.parent, page.parent)

        def replace(match: re.Match[str]) -> str:
            return f"[{title_of(source, match[1])}]({up}/{match[1]})"

        text = page.read_text(encoding="utf-8")
        text = outside_fences(text, lambda part: re.sub(r"docs/([\w-]+\.md)", replace, part))
        page.write_text(text, encoding="utf-8")


def main() -> int:
    source, fbp, out = Path(sys.argv[1]).resolve(), sys.argv[2], Path(sys.argv[3]).resolve()
    pages = out / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    shutil.copytree(source / "docs" / "pictures", pages / "pictures")
    for name in ("site.css", "iframe-worker.js"):
        shutil.copyfile(source / "docs" / "site" / name, pages / name)
    try:
        make_pages(source, out, pages)
        command_reference.make(fbp, pages / "reference" / "command")
        c_reference.make(source / "include" / "fbp", pages / "reference" / "c")
        python_reference.make(source / "bindings" / "python" / "libfbp", pages / "reference" / "python.md")
        link_names_of_pages(pages / "reference", source)
        notebooks.make(source / "docs" / "notebooks", out / "runs" / "notebooks", pages / "notebooks")
    except (blocks.Failed, notebooks.Failed) as why:
        print(f"site: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
