#!/usr/bin/env python3
"""reference.py SOURCE FBP LIBFBP WORK: the reference pages have every name: each that libfbp exports as
interface, each command with each of its options, and each public name of the Python package.  And every
page of docs/ is in the table of contents."""

import ast
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
source, fbp, library, work = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
sys.path.insert(0, str(source / "docs" / "site"))
import c_reference  # noqa: E402
import command_reference  # noqa: E402
import python_reference  # noqa: E402

failures = 0


def check(true, *words):
    global failures
    if not true:
        failures += 1
        print("FAILED:", *words)


def asked(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def headings(text):
    """name of a heading -> the text below it"""
    parts = re.split(r"^#+ (.*?)(?: \{ #[\w-]+ \})?$", text, flags=re.M)
    return {name.replace("\\", ""): below.strip() for name, below in zip(parts[1::2], parts[2::2])}


def check_c():
    c_reference.make(source / "include" / "fbp", work / "c")
    pages = {}
    for page in (work / "c").glob("*.h.md"):
        pages.update(headings(page.read_text(encoding="utf-8")))
    symbols = asked("nm", "-D", "--defined-only", "--with-symbol-versions", library)
    exported = sorted(set(re.findall(r"(\w+)@@FBP_0$", symbols, flags=re.M)) - {"FBP_0"})
    check(len(exported) > 80, "libfbp exports only", len(exported))
    for name in exported:
        below = pages.get(f"{name}()", "")
        code, _, comment = below.removeprefix("```c").partition("```")
        check(re.search(rf"\b{name}\(", code), name, "has no declaration in the reference of C")
        check(comment.strip(), name, "has no comment in the reference of C")
    index = (work / "c" / "index.md").read_text(encoding="utf-8")
    for text in (path.read_text(encoding="utf-8") for path in (source / "include" / "fbp").glob("*.h")):
        for name in re.findall(r"^(?:struct|enum) (fbp_\w+) \{", text, flags=re.M):
            check(name in pages and f"`{name}`" in index, name, "is not in the reference of C")
    cpp = (work / "c" / "fbp.hpp.md").read_text(encoding="utf-8")
    for name in re.findall(r"^class (\w+)", (source / "include/fbp/fbp.hpp").read_text(), flags=re.M):
        check(re.search(rf"\bclass {name}\b", cpp), name, "is not in the reference of C++")
    return len(exported)


def words_of(text):
    return set(re.findall(r"\w{4,}", text.lower()))


def check_command():
    command_reference.make(fbp, work / "command")
    commands = command_reference.commands_of(fbp)
    n_options = 0
    for command in commands:
        page = (work / "command" / (command.replace(" ", "-") + ".md")).read_text(encoding="utf-8")
        help_text = asked(fbp, *command.split(), "--help-all")
        for option in re.findall(r"^ {2,6}(?:-\w, )?(--[\w-]+)", help_text, flags=re.M):
            check(re.search(rf"^\| `[^`]*{option}\b[^`]*` \| \S", page, flags=re.M), command, option, "is missing")
            n_options += 1
        lost = words_of(help_text) - words_of(page.replace("\\", "")) - {"usage"}
        check(not lost, command, "is without the words", lost)
    return len(commands), n_options


def public_names(path):
    """Names in __all__ of a module and of the modules in it, and public functions of its classes, by the
    source's text."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            names = set(ast.literal_eval(node.value)) - {"__version__"}
    folder, found = path.parent, set()
    for name in names if path.name == "__init__.py" else ():
        for inner in (folder / f"{name}.py", folder / name / "__init__.py"):
            if inner.exists():
                found |= {f"{name}.{x}" for x in public_names(inner)}
                names = names - {name}
    for source_file in folder.glob("_*.py") if path.name == "__init__.py" else (path,):
        for node in ast.parse(source_file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name in names:
                found |= {f"{node.name}.{f.name}" for f in node.body
                          if isinstance(f, ast.FunctionDef) and not f.name.startswith("_")}
    return names | found


def check_python():
    package = source / "bindings" / "python" / "libfbp"
    python_reference.make(package, work / "python.md")
    found = headings((work / "python.md").read_text(encoding="utf-8"))
    names = public_names(package / "__init__.py")
    for name in names:
        below = found.get(name, found.get(f"{name}()", ""))
        check("```python" in below, name, "is not in the reference of Python")
        check(re.sub(r"```.*?```", "", below, flags=re.S).strip(), name, "has no words in the reference")
    return len(names)


def check_contents():
    """Every page of docs/ has its place in the table of contents."""
    contents = (source / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (source / "docs").glob("*.md"):
        check(f": {page.name}\n" in contents, page, "is not in mkdocs.yml")


check_contents()
counts = check_c(), *check_command(), check_python()
print("%d functions of C, %d commands with %d options, %d names of Python" % counts)
sys.exit(failures > 0)
