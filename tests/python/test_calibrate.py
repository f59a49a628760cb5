"""The geometry of a scan from its views: the values of the command, and the corrected scan."""

import dataclasses
import json

import numpy as np
import pytest

import libfbp as fbp

PHANTOM = """0 0 0 84 66 72 0 0.01
36 14 12 29 24 29 10 .01
-42 -24 -29 20 20 17 0 .015
6 -50 37 11 11 11 0 .02
48 7 -50 7 7 7 0 .02
-14 44 -14 14 10 14 20 -.006
12 0 48 24 11 6 40 .01
"""
CONE = {"sod": 500, "sdd": 800, "pixel": 3, "shape": (112, 112)}


@pytest.fixture(scope="module")
def shifted(tmp_path_factory) -> fbp.Scan:
    """A scan whose views have the axis at column 58.2 and a roll of 0.7 degrees; it says 55.5 and 0."""
    path = tmp_path_factory.mktemp("phantom") / "object.txt"
    path.write_text(PHANTOM)
    angles = fbp.angles(120)
    true = fbp.Scan.cone(None, angles, centre=58.2, tilt=0.7, **CONE)
    return fbp.Scan.cone(None, angles, **CONE).with_views(fbp.simulate(true, str(path), noise=1e6).views)


def test_cone(shifted, command, tmp_path):
    found = fbp.calibrate(shifted, progress=lambda p: None)
    assert found.reliable and found.sense_known and not found.reversed
    assert found.column.observable and found.column.before == pytest.approx(55.5)
    assert abs(found.column.value - 58.2) < 0.1 and 0 < found.column.uncertainty < 0.2
    assert abs(abs(found.roll.value) - 0.7) < 0.1 and found.roll.unit == "deg"
    assert not found.pitch.observable and found.pitch.value == found.pitch.before
    assert found.misfit < found.misfit_before and found.method
    assert list(found.values) == ["column", "row", "roll", "pitch", "yaw", "sdd", "arc"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.reliable = False
    assert found.scan.views is shifted.views
    right = fbp.recon(fbp.Scan.cone(shifted.views, fbp.angles(120), centre=58.2, tilt=0.7, **CONE), size=32)
    error = [np.abs(fbp.recon(s, size=32) - right).mean() for s in (shifted, found.scan)]
    assert error[1] < 0.2 * error[0]


def test_command(shifted, command, tmp_path):
    np.save(tmp_path / "views.npy", shifted.views)
    keys = {
        "fbp_scan": 1, "projections": "views.npy", "source_to_axis_mm": 500, "source_to_detector_mm": 800,
        "detector": {"pitch_mm": 3, "row_order": "bottom-up"}, "angles_deg": fbp.angles(120).tolist(),
    }  # fmt: skip
    (tmp_path / "scan.json").write_text(json.dumps(keys))
    want = json.loads(command(tmp_path, "calibrate", "scan.json", "--json"))
    found = fbp.calibrate(tmp_path / "scan.json")
    for name, value in found.values.items():
        assert value.observable == want[name]["observable"] and value.unit == want[name]["unit"]
        if value.observable:
            assert value.value == pytest.approx(want[name]["value"], rel=1e-5)


def test_not_reliable():
    noise = np.random.default_rng(1).normal(size=(60, 40, 40)).astype(np.float32)
    scan = fbp.Scan.cone(noise, fbp.angles(60), sod=500, sdd=800, pixel=4)
    with pytest.warns(fbp.ScanWarning, match="calibration is NOT RELIABLE: views differ"):
        found = fbp.calibrate(scan)
    assert not found.reliable and "views differ" in found.why


def test_drift(tmp_path):
    """Parallel views that jitter along their columns; beads and drift together are refused."""
    path = tmp_path / "object.txt"
    path.write_text(PHANTOM)
    angles = fbp.angles(90, 180)
    still = fbp.Scan.parallel(None, angles, pixel=2.2, shape=(96, 112))
    views = fbp.simulate(still, str(path), noise=1e6).views
    moved = views.copy()
    moved[1::2, 1:] = views[1::2, :-1]  # every second view, by one row
    found = fbp.calibrate(still.with_views(moved), drift=True)
    assert found.drift_v.found and found.drift_v.slow and abs(found.drift_v.range - 1) < 0.1
    assert not found.drift_u.found
    assert not fbp.calibrate(still.with_views(moved)).drift_v.found
    with pytest.raises(ValueError, match="beads excludes drift"):
        fbp.calibrate(still, beads=True, drift=True)


def test_refused():
    planes = fbp.simulate(fbp.Scan.planes(None, fbp.directions(8), spacing=0.5, shape=(1, 40)), "ball")
    with pytest.raises(fbp.Error):
        fbp.calibrate(planes)
    with pytest.raises(TypeError, match="scan: found int"):
        fbp.calibrate(3)
