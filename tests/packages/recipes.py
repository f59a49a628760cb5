#!/usr/bin/env python3
"""recipes.py SOURCE check | conda | spack | docker-run

The recipes in packaging/ are read as their programs read them: `check` looks for what each must
name; the others print the shell commands by which conda, Spack and Docker's last stage build or
install fbp, one a line, for a test to run."""

import json
import pathlib
import re
import sys
import types

try:
    import yaml
except ImportError:
    print("python3-yaml is not installed")
    sys.exit(77)

# Debian's packages that ./run installs, and their names at conda-forge and in Spack.
NAMES = {
    "cmake": ("cmake", "cmake"),
    "ninja-build": ("ninja", None),  # Spack brings a generator of its own
    "pkg-config": ("pkg-config", "pkgconfig"),
    "libcjson-dev": ("cjson", "cjson"),
    "libpng-dev": ("libpng", "libpng"),
    "libtiff-dev": ("libtiff", "libtiff"),
    "zlib1g-dev": ("zlib", "zlib-api"),
    "libexpat1-dev": ("expat", "expat"),
    "libhdf5-dev": ("hdf5", "hdf5"),
    "libepoxy-dev": ("libepoxy", "libepoxy"),
}
NOT_LIBRARIES = {"build-essential", "libcmocka-dev"}


def fail(text):
    print("FAILED:", text)
    sys.exit(1)


def needed(source):
    """Debian's packages of the functions missing_packages and missing_epoxy in ./run."""
    text = (source / "run").read_text()
    out = set()
    for name in ("missing_packages", "missing_epoxy"):
        body = re.search(name + r"\(\) \{\n(.*?)\n\}", text, re.S).group(1)
        out |= set(re.findall(r"[\w.+-]+:([a-z0-9.+-]+)", body))
        out |= set(re.findall(r"echo ([a-z0-9.+-]+-dev)", body))
    return out - NOT_LIBRARIES


def version(source):
    text = (source / "include/fbp/version.h").read_text()
    return ".".join(re.search(rf"#define FBP_VERSION_{part} (\d+)", text).group(1)
                    for part in ("MAJOR", "MINOR", "PATCH"))


def conda(source):
    return yaml.safe_load((source / "packaging/conda/recipe.yaml").read_text())


class Spack:
    """What a recipe may use of Spack; the class that it defines, and what it has declared."""

    def __init__(self, source):
        self.depends, self.variants, self.versions = [], {}, []
        package = types.ModuleType("spack.package")

        class CMakePackage:
            @staticmethod
            def define(name, value):
                if isinstance(value, bool):
                    return f"-D{name}:BOOL={'ON' if value else 'OFF'}"
                value = value if isinstance(value, str) else ";".join(value)
                return f"-D{name}:STRING={value}"

            def define_from_variant(self, name, variant):
                return self.define(name, self.spec.satisfies("+" + variant))

        class CudaPackage:
            pass

        package.CMakePackage, package.CudaPackage = CMakePackage, CudaPackage
        package.license = lambda *a, **k: None
        package.version = lambda v, **k: self.versions.append(v)
        package.variant = lambda name, default, description: self.variants.update({name: default})
        package.depends_on = lambda spec, **k: self.depends.append(re.split("[@: ]", spec)[0])
        sys.modules["spack"] = types.ModuleType("spack")
        sys.modules["spack.package"] = package
        names = {}
        exec((source / "packaging/spack/package.py").read_text(), names)
        self.recipe = names["Fbp"]()
        self.recipe.spec = self

    def satisfies(self, text):
        return self.variants.get(text[1:], False) is (text[0] == "+")


def docker(source):
    """Instructions of the stages of a Dockerfile, [[(word, rest), …], …]."""
    text = (source / "packaging/docker/Dockerfile").read_text()
    text = re.sub(r"^#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    known = {"ARG", "FROM", "COPY", "WORKDIR", "RUN", "ENTRYPOINT", "CMD"}
    stages = [[]]
    for line in filter(None, (line.strip() for line in text.splitlines())):
        word, rest = line.split(None, 1)
        if word not in known:
            fail(f"Dockerfile: {word} is no instruction that is used here")
        if word == "FROM":
            stages.append([])
        if word in ("ENTRYPOINT", "CMD"):
            json.loads(rest)
        stages[-1].append((word, rest))
    return stages[1:]


def check(source):
    recipe, spack, stages = conda(source), Spack(source), docker(source)
    listed = recipe["requirements"]["build"] + recipe["requirements"]["host"]
    listed = {item.split()[0] for item in listed}
    for package in sorted(needed(source)):
        if package not in NAMES:
            fail(f"{package} is installed by ./run: name it in the recipes, and in {__file__}")
        at_conda, in_spack = NAMES[package]
        if at_conda not in listed:
            fail(f"recipe.yaml lacks {at_conda}")
        if in_spack and in_spack not in spack.depends:
            fail(f"package.py lacks {in_spack}")
    if recipe["context"]["version"] != version(source):
        fail(f"recipe.yaml: version {recipe['context']['version']}, not {version(source)}")
    text = (source / "CMakeLists.txt").read_text()
    used = re.findall(r"-D(FBP_\w+)", " ".join(recipe["build"]["script"]))
    used += [re.match(r"-D(\w+)", a).group(1) for a in spack.recipe.cmake_args()]
    for option in used:
        if not re.search(rf"(option|set)\({option}\b", text):
            fail(f"CMakeLists.txt has no option {option}")
    if len(stages) != 2 or ("RUN", "./run package") not in stages[0]:
        fail("Dockerfile: expected two stages, and ./run package in the first")
    print(f"{len(listed)} requirements of conda, {len(spack.depends)} of Spack, 2 stages of Docker")


def main():
    source, what = pathlib.Path(sys.argv[1]), sys.argv[2]
    if what == "check":
        check(source)
    elif what == "conda":
        print("\n".join(conda(source)["build"]["script"]))
    elif what == "spack":
        print("cmake -S . -B build/spack -G Ninja -DCMAKE_BUILD_TYPE=Release "
              '-DCMAKE_INSTALL_PREFIX="$PREFIX" '
              + " ".join(f"'{a}'" for a in Spack(source).recipe.cmake_args()))
        print("cmake --build build/spack")
        print("cmake --install build/spack")
    elif what == "docker-run":
        print("\n".join(rest for word, rest in docker(source)[-1] if word == "RUN"))
    else:
        fail(f"unknown: {what}")


main()
