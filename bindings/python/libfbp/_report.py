"""What a run tells, and what a plan has decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Report:
    """Times and results of a run: ``volume.report``.  Times in seconds; stages overlap."""

    total: float
    read: float
    filter: float
    backproject: float
    write: float
    open: float
    gups: float
    """giga-updates a second: voxels x views"""
    min: float
    max: float
    mean: float
    not_finite: int
    """samples that were NaN or infinite, and were interpolated"""
    clipped: int
    """counts of 0 or less"""
    output_scale: float
    output_offset: float
    output_clipped: int
    output_range: tuple[float, float]
    slabs_resumed: int
    hash: int
    truncated_views: int
    """views in which the object is wider than the panel"""
    dead_views: int
    bad_pixels: int
    """pixels that no map lists and that are dead, stuck, hot or saturated"""
    repaired_pixels: int
    """pixels that were interpolated"""
    saturated: int
    """counts with the greatest value, if that lies below i0, in the views that were searched"""
    saturated_share: float
    saturated_value: float
    exposure_views: int
    devices_dropped: int
    n_batches: int
    slices_missing: int
    """of a part: slices that other parts still have to write; 0: the file is complete"""
    warnings: list[str] = field(default_factory=list)
    """what was warned of while the plan was made and run"""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Summary:
    """What a plan has decided before anything runs: ``plan.summary``.  Along x, y, z; bytes."""

    backend: str
    kernel: str
    isa: str
    n_devices: int
    threads: int
    volume: dict[str, Any]
    """size, voxel [mm] and centre [mm] of the result"""
    whole: dict[str, Any]
    roi: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
    weights: str
    """scan type, weights, filter in words"""
    n_slabs: int
    slab_slices: int
    n_batches: int
    batch_views: int
    view_reads: float
    memory_bytes: int
    """predicted peak of the process"""
    memory_limit: int
    device_bytes: int
    updates: int
    unit: str
    frames: int
    follows: bool
    prepared: str
    predicted: float
    """seconds, if the rates of the device are known; else 0"""
