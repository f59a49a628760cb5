"""Small scans that all tests of the package use.  FBP is the command beside it."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

import libfbp as fbp

ROWS, COLUMNS, VIEWS = 24, 40, 48
CONE = {"sod": 100.0, "sdd": 160.0, "pixel": 1.0}


@pytest.fixture(scope="session")
def geometry() -> fbp.Scan:
    return fbp.Scan.cone(None, fbp.angles(VIEWS), shape=(ROWS, COLUMNS), **CONE)


@pytest.fixture(scope="session")
def views(geometry: fbp.Scan) -> np.ndarray:
    made = fbp.simulate(geometry, "ellipsoids").views
    made.flags.writeable = False
    return made


@pytest.fixture()
def scan(geometry: fbp.Scan, views: np.ndarray) -> fbp.Scan:
    return geometry.with_views(views)


@pytest.fixture(scope="session")
def want(geometry: fbp.Scan, views: np.ndarray) -> np.ndarray:
    """What the scan gives with size 20."""
    return fbp.recon(geometry.with_views(views), size=20).array


@pytest.fixture(scope="session")
def command():
    """Runs the command fbp in a folder."""
    program = os.environ.get("FBP")
    if not program:
        pytest.skip("FBP does not name the command")

    def run(folder: pathlib.Path, *arguments: str) -> str:
        done = subprocess.run(
            [program, *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
