"""What follows from a geometry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Facts:
    """What follows from a geometry: ``scan.facts``.  Lengths in mm, angles in degrees."""

    axis: tuple[float, float, float]
    """unit vector of the rotation axis"""
    sod: tuple[float, float]
    """least and greatest distance from source to axis; 0 for parallel beams"""
    sdd: tuple[float, float]
    """least and greatest distance from source to detector"""
    magnification: float
    direction: int
    """+1: the source moves counter-clockwise, -1: clockwise, 0: in no order"""
    start_deg: float
    arc_deg: float
    """angle that the views cover"""
    needed_deg: float
    """angle that they must cover"""
    gap_deg: float
    fan_deg: tuple[float, float]
    coverage: str
    """ "full", "short" or "partial" """
    offset: bool
    """is the panel so far off centre that only a full turn sees the whole object?"""
    overlap: float
    fov_radius: float
    """radius around the axis that is seen from all needed directions"""
    fov_z: tuple[float, float]
    """least and greatest z on the axis that every view sees"""
    tilt_deg: tuple[float, float, float]
    skew_deg: float
    volume_inside: bool
    n_angles: int
    helix_pitch: float
    complete_radius: float
    """radius around the axis within which every line was measured"""
    gap_error: float
    """expected relative error (rms) because of directions that no view has measured"""
    method_error: tuple[float, float, float, float]
    """expected relative error of a small ball's mean in the middle, at the rim, at the top and at
    the bottom of a grid, of the method itself; zeros without a grid"""
    remarks: list[str]
    """sentences about errors to expect"""
