"""The reference of the Python package: its public names, from the sources' signatures and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from pathlib import Path

WIDTH = 88
ROLE = re.compile(r":(?:func|class|meth|mod):`~?(?:libfbp\.)?([\w.]+)`")
FIELD = re.compile(r"^:(param \w+|return|raises \w+):\s*(.*)$")


@dataclass
class Module:
    """A file of the package."""

    lines: list[str]
    body: list[ast.stmt]
    about: str

    @staticmethod
    def read(path: Path) -> Module:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        return Module(text.splitlines(), tree.body, ast.get_docstring(tree) or "")

    def named(self, name: str) -> ast.stmt | None:
        for node in self.body:
            if getattr(node, "name", None) == name:
                return node
        return None

    def public(self) -> list[str]:
        """__all__"""
        for node in self.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return ast.literal_eval(node.value)
        return []


def markdown(docstring: str, owner: str = "") -> str:
    """A docstring as Markdown: a list of parameters, names in code, examples as code.  What a name
    means depends on its owner, and is left to resolved()."""

    def linked(match: re.Match[str]) -> str:
        return f"[`{match[1]}`](#{anchor(owner)}|{anchor(match[1])})"

    out: list[str] = []
    fields = False
    for line in inspect.cleandoc(docstring).splitlines():
        line = re.sub(r"``(.+?)``", r"`\1`", ROLE.sub(linked, line))
        if match := FIELD.match(line):
            what = match[1].split()
            if not fields:
                out.append("")
            head = f"`{what[1]}`" if what[0] == "param" else f"*{' '.join(what)}s*"
            out.append(f"- {head}: {match[2]}")
            fields = True
        elif line.startswith(">>> "):
            if not out or not out[-1].startswith("    "):
                out.append("")
            out.append("    " + line[4:])
        else:
            fields = fields and bool(line.strip())
            out.append(line.strip())
    return "\n".join(out).strip()


def anchor(name: str) -> str:
    return name.lower().replace(".", "-")


def resolved(page: str) -> str:
    """The page, with links (#owner|name) to a name of the owner, or of what contains the owner."""
    anchors = set(re.findall(r"\{ #([\w-]+) \}", page))

    def replace(match: re.Match[str]) -> str:
        owner = match[1].split("-") if match[1] else []
        while owner and "-".join([*owner, match[2]]) not in anchors:
            owner.pop()
        return f"(#{'-'.join([*owner, match[2]])})"

    return re.sub(r"\(#([\w-]*)\|([\w-]+)\)", replace, page)


def signature(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef, bound: bool) -> str:
    """name(arguments) -> result, in one line or a line an argument."""
    given = node.args
    if bound:
        given = ast.arguments(
            given.posonlyargs, given.args[1:], given.vararg, given.kwonlyargs, given.kw_defaults,
            given.kwarg, given.defaults,
        )  # fmt: skip
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    parts = re.split(r", (?![^\[(]*[\])])", ast.unparse(given)) if ast.unparse(given) else []
    parts = [re.sub(r"(: [^=]*)=", r"\1 = ", part) for part in parts]
    line = f"{name}({', '.join(parts)}){result}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){result}"


def heading(level: int, title: str, name: str) -> str:
    return f"{'#' * level} {title.replace('_', chr(92) + '_')} {{ #{anchor(name)} }}"


def function_text(name: str, node: ast.FunctionDef, level: int, bound: bool = False) -> str:
    about = markdown(ast.get_docstring(node) or "", name.rpartition(".")[0])
    code = f"```python\n{signature(name, node, bound)}\n```"
    return "\n\n".join([heading(level, f"{name}()", name), code, about]).rstrip()


def attributes_of(module: Module, node: ast.ClassDef) -> list[str]:
    """A table of fields, with the docstrings behind them and the comments that head groups."""
    rows, fields = [], 0
    for i, entry in enumerate(node.body):
        if not isinstance(entry, ast.AnnAssign) or ast.unparse(entry.target).startswith("_"):
            continue
        before = module.lines[entry.lineno - 2].strip()
        if before.startswith("# "):
            rows.append(f"| **{before[2:]}** | | |")
        behind = node.body[i + 1] if i + 1 < len(node.body) else None
        is_text = isinstance(behind, ast.Expr) and isinstance(behind.value, ast.Constant)
        about = " ".join(markdown(str(behind.value.value)).split()) if is_text else ""
        kind = ast.unparse(entry.annotation).replace("|", "\\|")
        rows.append(f"| `{ast.unparse(entry.target)}` | `{kind}` | {cell(about)} |")
        fields += 1
    return ["| | | |", "|---|---|---|", *rows] if fields else []


def cell(text: str) -> str:
    return re.sub(r"([|<>*_\[\]])", r"\\\1", text)


def decorators(node: ast.FunctionDef) -> set[str]:
    return {ast.unparse(d) for d in node.decorator_list}


def members(module: Module, node: ast.ClassDef) -> list[ast.FunctionDef]:
    """Functions of a class, and of private ones that it is derived from."""
    found = [entry for entry in node.body if isinstance(entry, ast.FunctionDef)]
    for base in map(ast.unparse, node.bases):
        above = module.named(base) if base.startswith("_") else None
        if isinstance(above, ast.ClassDef):
            known = {entry.name for entry in found}
            found += [entry for entry in members(module, above) if entry.name not in known]
    return found


def class_text(name: str, module: Module, node: ast.ClassDef, level: int) -> str:
    out = [heading(level, name, name)]
    bases = ", ".join(b for b in map(ast.unparse, node.bases) if not b.startswith("_"))
    out.append(f"```python\nclass {name}{f'({bases})' if bases else ''}\n```")
    out.append(markdown(ast.get_docstring(node) or "", name))
    if table := attributes_of(module, node):
        out.append("\n".join(table))
    for entry in members(module, node):
        if entry.name == "__init__" and ast.get_docstring(entry):
            code = f"```python\n{signature(name, entry, True)}\n```"
            out.append(f"{code}\n\n{markdown(ast.get_docstring(entry) or '', name)}")
        elif not entry.name.startswith("_") and "property" in decorators(entry):
            full = f"{name}.{entry.name}"
            result = f": {ast.unparse(entry.returns)}" if entry.returns else ""
            code = f"```python\n{full}{result}\n```"
            about = markdown(ast.get_docstring(entry) or "", name)
            out.append("\n\n".join([heading(level + 1, full, full), code, about]))
        elif not entry.name.startswith("_"):
            bound = "staticmethod" not in decorators(entry)
            out.append(function_text(f"{name}.{entry.name}", entry, level + 1, bound))
    return "\n\n".join(part for part in out if part)


def found_in(name: str, modules: list[Module]) -> tuple[Module, ast.stmt]:
    for module in modules:
        if node := module.named(name):
            return module, node
    raise ValueError(f"__all__ has {name}, which no module defines")


def entry_text(name: str, modules: list[Module], shown: str, level: int) -> str:
    module, node = found_in(name, modules)
    if isinstance(node, ast.ClassDef):
        return class_text(shown, module, node, level)
    assert isinstance(node, ast.FunctionDef)
    return function_text(shown, node, level)


def kind_of(name: str, modules: list[Module]) -> str:
    _, node = found_in(name, modules)
    if not isinstance(node, ast.ClassDef):
        return "Functions"
    errors = ("Error", "Warning", "Exception")
    return "Errors and warnings" if name.endswith(errors) else "Classes"


def submodules(package: Path, prefix: str = "") -> list[tuple[str, Path]]:
    """(name, file) of the modules that __all__ of a package names, and of those in them."""
    found: list[tuple[str, Path]] = []
    for name in Module.read(package / "__init__.py").public():
        if (package / f"{name}.py").exists():
            found.append((prefix + name, package / f"{name}.py"))
        elif (package / name / "__init__.py").exists():
            found.append((prefix + name, package / name / "__init__.py"))
            found += submodules(package / name, f"{prefix}{name}.")
    return found


def module_text(name: str, path: Path, others: set[str]) -> str:
    """A module of its own: what it says of itself, and its names but other modules."""
    module = Module.read(path)
    out = [heading(2, f"Module {name}", name), markdown(module.about, name)]
    for entry in module.public():
        if f"{name}.{entry}" not in others:
            out.append(entry_text(entry, [module], f"{name}.{entry}", 3))
    return "\n\n".join(out)


def make(package: Path, page: Path) -> None:
    """Write the page of all public names of the package."""
    top = Module.read(package / "__init__.py")
    modules = [Module.read(p) for p in sorted(package.glob("_*.py")) if p.name != "__init__.py"]
    own = dict(submodules(package))
    names = [n for n in top.public() if n != "__version__" and n not in own]
    out = ["# The Python package", "```python\nimport libfbp as fbp\n```", markdown(top.about)]
    for title in ("Functions", "Classes", "Errors and warnings"):
        out.append(f"## {title}")
        chosen = [n for n in names if kind_of(n, modules) == title]
        out += [entry_text(n, modules, n, 3) for n in sorted(chosen, key=str.lower)]
    out += [module_text(name, path, set(own)) for name, path in own.items()]
    out.append("## \\_\\_version\\_\\_ { #version }\n\nThe release of the package, such as \"0.1.0\".")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(resolved("\n\n".join(out) + "\n"), encoding="utf-8")
