"""docs/from-scikit-image.md: its functions give the images of skimage.transform.iradon()."""

import pathlib
import re

import numpy as np
import pytest

transform = pytest.importorskip("skimage.transform")
PAGE = pathlib.Path(__file__).parents[2] / "docs/from-scikit-image.md"
pytestmark = pytest.mark.filterwarnings("ignore::libfbp.ScanWarning")


@pytest.fixture(scope="module")
def page():
    """The functions of the page."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
        exec(block.split("\niradon(")[0], names)
    return names


def sinogram(n, views):
    row, column = np.mgrid[:n, :n] / (n - 1) * 2 - 1
    image = 1.0 * (row**2 + (column / 0.7) ** 2 < 0.8)
    for y, x, r, value in ((0.3, 0.1, 0.25, 0.5), (-0.4, -0.2, 0.2, -0.6), (0, 0.3, 0.1, 1), (0.62, -0.1, 0.1, 0.4)):
        image += value * ((row - y) ** 2 + (column - x) ** 2 < r * r)
    image[(row**2 + column**2) >= 1] = 0
    theta = np.linspace(0, 180, views, endpoint=False)
    return transform.radon(image, theta, circle=True), theta


def difference(found, want):
    return np.abs(found - want).max() / np.abs(want).max()


@pytest.mark.parametrize("n, views", [(64, 90), (65, 90), (100, 181)])
def test_ramp(page, n, views):
    sino, theta = sinogram(n, views)
    found, want = page["iradon"](sino, theta), transform.iradon(sino, theta, circle=True)
    assert found.shape == want.shape and difference(found, want) < 1e-6
    assert difference(found.T, want) > 0.1


@pytest.mark.parametrize("n, views", [(64, 90), (65, 90)])
def test_ramp_in_double(page, n, views, monkeypatch):
    """The device "ref" adds in double: what is left is the rounding of the result to float32."""
    recon = page["fbp"].recon
    monkeypatch.setattr(page["fbp"], "recon", lambda *a, **k: recon(*a, device="ref", **k))
    sino, theta = sinogram(n, views)
    assert difference(page["iradon"](sino, theta), transform.iradon(sino, theta, circle=True)) < 3e-7


@pytest.mark.parametrize(
    "name, most", [("shepp-logan", 1e-4), ("cosine", 1e-4), ("hamming", 4e-3), ("hann", 4e-3)]
)
def test_windows(page, name, most):
    sino, theta = sinogram(64, 90)
    want = transform.iradon(sino, theta, filter_name=name, circle=True)
    assert difference(page["iradon"](sino, theta, name), want) < most


@pytest.mark.parametrize("name, a", [("hann", 0.5), ("hamming", 0.54)])
def test_windows_of_scikit_image(page, name, a):
    sino, theta = sinogram(64, 90)
    want = transform.iradon(sino, theta, filter_name=name, circle=True)
    found = page["iradon"](sino, theta, lambda f: page["skimage_window"](f, a=a))
    assert difference(found, want) < 1e-6
