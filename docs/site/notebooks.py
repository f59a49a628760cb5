"""Notebooks: run them, and make pages of them with what they have printed and drawn."""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path
from typing import Any

TEXT_LINES = 40  # of what one cell prints; the notebook itself has all of it


class Failed(Exception):
    """A cell raised something."""


def executed(path: Path, folder: Path, timeout_s: int = 300) -> Any:
    """The notebook with its outputs; files that it writes lie in folder."""
    import nbclient
    import nbformat
    from traitlets.config import Config

    notebook = nbformat.read(path, as_version=4)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as sockets:  # not ports, which others on this machine could use
        client = nbclient.NotebookClient(
            notebook,
            timeout=timeout_s,
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
            config=Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}}),
        )
        try:
            client.execute()
        except nbclient.exceptions.CellExecutionError as error:
            raise Failed(f"{path}: {error}") from None
    return notebook


def picture_of(data: dict[str, str], name: str, folder: Path) -> str:
    (folder / name).write_bytes(base64.b64decode(data["image/png"]))
    return name


def output_text(output: Any, name: str, folder: Path, alt: str) -> str:
    """An output as Markdown; its picture goes to a file."""
    if output.output_type == "stream":
        text = output.text
    elif "image/png" in output.data:
        return f"![{alt}]({picture_of(output.data, name, folder)})"
    else:
        text = output.data.get("text/plain", "")
    lines = text.rstrip().splitlines()
    if len(lines) > TEXT_LINES:
        lines = [*lines[:TEXT_LINES], "…"]
    return "```text\n" + "\n".join(lines) + "\n```"


def joined(outputs: list[Any]) -> list[Any]:
    """Outputs as they are seen: what was printed in pieces is one, standard error is left out."""
    found: list[Any] = []
    for output in outputs:
        if output.get("name") == "stderr":
            continue
        if found and output.output_type == found[-1].output_type == "stream":
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def page_of(notebook: Any, name: str, folder: Path) -> str:
    """The notebook as a page; pictures are written beside it."""
    out: list[str] = []
    heading = name
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            out.append(cell.source)
            heading = cell.source.splitlines()[0].lstrip("# ")
            continue
        out.append(f"```python\n{cell.source}\n```")
        for k, output in enumerate(joined(cell.outputs)):
            out.append(output_text(output, f"{name}-{i}-{k}.png", folder, heading))
    first, rest = out[0], out[1:]
    note = f"This page is the notebook [{name}.ipynb]({name}.ipynb), run when the site was made."
    return "\n\n".join([first, note, *rest]) + "\n"


def make(sources: Path, work: Path, folder: Path) -> int:
    """Run all notebooks in sources, and write their pages to folder; how many there were."""
    folder.mkdir(parents=True, exist_ok=True)
    found = sorted(sources.glob("*.ipynb"))
    for path in found:
        print(f"site: running {path.name}", file=sys.stderr)
        notebook = executed(path, work / path.stem)
        (folder / f"{path.stem}.md").write_text(page_of(notebook, path.stem, folder), encoding="utf-8")
        (folder / path.name).write_bytes(path.read_bytes())
    return len(found)
