"""Geometry objects and arrays of other packages: ASTRA, TIGRE, RTK and CIL (docs/adapters.md).

>>> import libfbp as fbp
>>> image = fbp.adapters.astra.recon(proj_geom, vol_geom, sinogram)
>>> volume = fbp.adapters.tigre.fdk(projections, geo, angles)
>>> image = fbp.adapters.rtk.fdk(projections, geometry, like)
>>> image = fbp.adapters.cil.FDK(data).run()

Each takes the objects of its package, and gives what that package gives.  ``scan()`` of each makes a
:class:`libfbp.Scan` of them.  None of the packages is imported before it is needed.
"""

from __future__ import annotations

from . import astra, cil, rtk, tigre

__all__ = ["astra", "cil", "rtk", "tigre"]
