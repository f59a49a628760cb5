"""Volumes as arrays, in notebooks and in napari."""

import base64
import copy
import re
import sys
import types

import numpy as np
import pytest

import libfbp as fbp


@pytest.fixture(scope="module")
def volume() -> fbp.Volume:
    voxels = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    return fbp.Volume(voxels, (0.5, 0.6, 0.7), (1.0, 2.0, 3.0))


def test_arrays(volume):
    a = volume.array
    assert (volume.shape, volume.ndim, volume.size, volume.dtype, len(volume)) == ((2, 3, 4), 3, 24, a.dtype, 2)
    assert type(volume[1]) is np.ndarray and volume[1, 2, 3] == 23
    np.testing.assert_array_equal(volume[:, 1:, ::2], a[:, 1:, ::2])
    np.testing.assert_array_equal(volume[volume > 20], [21, 22, 23])
    assert [s.shape for s in volume] == [(3, 4)] * 2
    for found, want in [
        (volume + 1, a + 1), (1 + volume, a + 1), (volume - a, a - a), (1 - volume, 1 - a),
        (a - volume, a - a), (volume * volume, a * a), (2 * volume, 2 * a), (volume / 2, a / 2),
        (2 / (volume + 1), 2 / (a + 1)), (a[0] / (a[0] + volume + 1), a[0] / (a[0] + a + 1)),
        (volume**2, a**2), (-volume, -a), (abs(volume), a), (volume < 3, a < 3), (volume <= 3, a <= 3),
        (3 < volume, a > 3), (volume >= a, a >= a), (np.sqrt(volume), np.sqrt(a)),
        (np.float32(2) * volume, 2 * a),
    ]:  # fmt: skip
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, want)
        assert found.dtype == want.dtype
    assert volume.mean() == a.mean() and volume.std() == a.std() and volume.sum() == a.sum()
    assert volume.min() == 0 and volume.max() == 23 and np.median(volume) == np.median(a)
    np.testing.assert_array_equal(volume.mean(axis=(1, 2), dtype=float), a.mean((1, 2), float))
    assert volume == volume and volume != copy.copy(volume) and len({volume}) == 1
    with pytest.raises(TypeError):
        volume + "one"
    with pytest.raises(AttributeError):
        volume.median  # noqa: B018


def test_of_a_file(volume, tmp_path):
    volume.save(tmp_path / "v.mha")
    read = fbp.read(tmp_path / "v.mha")
    lazy = fbp.Volume(None, read.spacing, read.origin, path=str(tmp_path / "v.mha"))
    assert lazy.mean() == volume.mean() and lazy[1, 1, 1] == volume[1, 1, 1]
    np.testing.assert_array_equal(lazy - volume, np.zeros(volume.shape))


def test_notebook(volume):
    text = volume._repr_html_()
    png = base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', text)[1])
    assert png == fbp.view(volume).png and png[:4] == b"\x89PNG"
    assert "0.5 x 0.6 x 0.7 mm, 1/mm" in text and "&lt;libfbp.Volume" in text
    frames = fbp.Volume(np.stack([volume.array] * 2), volume.spacing, volume.origin, "<b>")
    assert "<b>" not in frames._repr_html_()


class Viewer:
    def __init__(self):
        self.layers = []

    def add_image(self, data, **keywords):
        self.layers.append((data, keywords))


def test_napari(volume, monkeypatch):
    monkeypatch.setitem(sys.modules, "napari", types.SimpleNamespace(Viewer=Viewer))
    viewer = volume.to_napari(contrast_limits=(0, 3))
    (data, keywords), = viewer.layers
    assert data is volume.array and keywords == {
        "scale": (0.7, 0.6, 0.5), "translate": (3.0, 2.0, 1.0), "name": "volume", "contrast_limits": (0, 3),
    }  # fmt: skip
    frames = fbp.Volume(np.stack([volume.array] * 2), volume.spacing, volume.origin)
    assert frames.to_napari(viewer, name="two") is viewer
    assert viewer.layers[1][1]["scale"] == (1.0, 0.7, 0.6, 0.5) and viewer.layers[1][1]["name"] == "two"


def test_no_napari(volume, monkeypatch):
    monkeypatch.setitem(sys.modules, "napari", None)
    with pytest.raises(ImportError, match='to_napari: napari cannot be imported; pip install "napari'):
        volume.to_napari()
