"""Hooks of MkDocs: in the table of contents, "reference/c/" stands for the pages in that folder; and
the site has the licence of its theme."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path


def pages_in(folder: Path, prefix: str) -> list:
    """index.md, and the pages to which it leads, in its order."""
    index = (folder / "index.md").read_text(encoding="utf-8")
    found = dict.fromkeys(re.findall(r"\]\(([\w.-]+\.md)\)", index))
    return [prefix + name for name in ("index.md", *found)]


def expanded(entries: list, pages: Path) -> list:
    out = []
    for entry in entries:
        if isinstance(entry, dict):
            (title, value), = entry.items()
            if isinstance(value, list):
                entry = {title: expanded(value, pages)}
            elif value.endswith("/"):
                entry = {title: pages_in(pages / value, value)}
        out.append(entry)
    return out


def on_config(config):
    config["nav"] = expanded(config["nav"], Path(config["docs_dir"]))
    return config


def on_post_build(config):
    for file in importlib.metadata.files("mkdocs-material") or []:
        if file.name == "LICENSE":
            text = file.locate().read_text(encoding="utf-8")
            (Path(config["site_dir"]) / "assets" / "LICENSE.txt").write_text(text, encoding="utf-8")
