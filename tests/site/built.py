#!/usr/bin/env python3
"""built.py SOURCE OUT: the built site. Links lead somewhere, nothing is loaded from elsewhere, pictures are
there, all pages are, and so are all names of the Python package, as it was imported. In a browser, where
there is one: no page is wider than the window, and search finds, from a disk."""

import inspect
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

sys.dont_write_bytecode = True
source, site = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve() / "html"
sys.path.insert(0, str(source / "tests" / "browser"))
import devtools  # noqa: E402
import libfbp  # noqa: E402

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
failures = 0


def check(true, *words):
    global failures
    if not true:
        failures += 1
        print("FAILED:", *words)


class Page(HTMLParser):
    """What a page loads, where it leads, what can be led to, and its words."""

    def __init__(self, path):
        super().__init__()
        self.path, self.ids, self.links, self.loaded, self.images = path, set(), [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.update(x for x in (found.get("id"), found.get("name")) if x)
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in LOADED and found.get(LOADED[tag]):
            self.loaded.append(found[LOADED[tag]])
        if tag == "img":
            self.images.append(found.get("alt", ""))


def outside(link):
    return re.match(r"(?:[a-z]+:)?//", link)


def check_links(pages):
    """Every link and every thing that is loaded is there, and here."""
    n = 0
    for page in pages.values():
        for link in page.loaded:
            check(not outside(link), page.path, "loads", link)
        for link in page.links + page.loaded:
            if outside(link) or re.match(r"(?:mailto|data|javascript):", link):
                continue
            path, _, part = link.partition("#")
            # Links of the page that a server shows for missing ones begin at its root.
            base = site if path.startswith("/") else page.path.parent
            target = Path(os.path.normpath(base / unquote(path).lstrip("/"))) if path else page.path
            check(target.exists(), page.path, "leads to", link)
            if part and target in pages:
                check(unquote(part) in pages[target].ids, page.path, "leads to", link)
            n += 1
        check(all(page.images), page.path, "has a picture without words")
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        check(not re.search(r"url\([\"']?(?:https?:)?//|@import", text), style, "loads from elsewhere")
    return n


def check_pages(pages):
    """Every page of docs/, every notebook, with what its cells have drawn."""
    for path in (source / "docs").glob("*.md"):
        check(site / f"{path.stem}.html" in pages, path, "has no page")
    for path in (source / "docs" / "notebooks").glob("*.ipynb"):
        page = pages.get(site / "notebooks" / f"{path.stem}.html")
        check(page and len(page.images) >= 2, path, "has no page with drawings")
        check((site / "notebooks" / path.name).exists(), path, "cannot be fetched")
        check('"outputs": []' in path.read_text() and '"image/png"' not in path.read_text(),
              path, "is kept with outputs: clear them")
    for name, least in (("gallery", 15), ("which-geometry", 7), ("first-command", 2), ("first-python", 1)):
        check(len(pages[site / f"{name}.html"].images) >= least, name, "lacks pictures")
    check("MIT" in (site / "assets" / "LICENSE.txt").read_text(), "the theme's licence is missing")


def check_python(pages):
    ids = pages[site / "reference" / "python.html"].ids
    for name in libfbp.__all__:
        thing = getattr(libfbp, name)
        check(("version" if name == "__version__" else name.lower()) in ids, name, "is not in the reference")
        inner = {k: v for k, v in vars(thing).items() if not k.startswith("_")} if inspect.isclass(thing) else {}
        for inside, what in inner.items():
            if isinstance(what, (property, classmethod, staticmethod)) or inspect.isfunction(what):
                check(f"{name}-{inside}".lower() in ids, name, inside, "is not in the reference")


def check_browser(pages):
    """Wide and narrow, from a disk, without a network."""
    program = devtools.find()
    if not program:
        print("no browser here: widths and search are not looked at")
        return
    b = devtools.Browser(program)
    try:
        for width in (390, 1300):
            b.size(width, 900)
            for name in ("index", "gallery", "performance", "reference/c/recon.h", "reference/command/recon"):
                b.open(f"file://{site}/{name}.html")
                check(b.value("document.documentElement.scrollWidth <= innerWidth"), name, "is wider than", width)
                check(not b.said, name, "says", b.said)
                check(not [r for r in b.requests if not r.startswith(("file:", "data:"))], name, b.requests)
        b.open(f"file://{site}/index.html")
        b.value("""(() => { const q = document.querySelector('.md-search__input');
            q.focus(); q.value = 'fbp_stopper_stop'; q.dispatchEvent(new Event('input', {bubbles: true}));
            q.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})); })()""")
        b.wait("document.querySelectorAll('.md-search-result__item').length > 0")
        check("recon.h" in b.value("document.querySelector('.md-search-result__list').innerHTML"),
              "search does not find fbp_stopper_stop")
    finally:
        b.close()


pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
check(len(pages) > 60, "only", len(pages), "pages")
n_links = check_links(pages)
check_pages(pages)
check_python(pages)
check_browser(pages)
print(f"{len(pages)} pages, {n_links} links, {failures} failures")
sys.exit(failures > 0)
