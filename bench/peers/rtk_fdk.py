"""RTK's FDK on one scan: rtk_fdk.py DESCRIPTION N VOXEL OUTPUT; prints seconds, read to write."""
import json
import os
import sys
import time

import itk
from itk import RTK as rtk
import numpy as np

IMAGE = itk.Image[itk.F, 3]


def reconstruct(source, scan, n, voxel, output):
    projections = itk.imread(source, itk.F)
    size = itk.size(projections)
    geometry = rtk.ThreeDCircularProjectionGeometry.New()
    first, step = scan["angles_deg"]["start"], scan["angles_deg"]["step"]
    for k in range(size[2]):  # its gantry angle is theta + 90 degrees
        geometry.AddProjection(scan["source_to_axis_mm"], scan["source_to_detector_mm"],
                               first + k * step + 90)
    pitch = scan["detector"]["pitch_mm"]
    projections.SetOrigin([-(size[0] - 1) / 2 * pitch[0], -(size[1] - 1) / 2 * pitch[1], 0])
    projections.SetSpacing([pitch[0], pitch[1], 1])
    volume = rtk.ConstantImageSource[IMAGE].New()
    volume.SetOrigin([-(n - 1) / 2 * voxel] * 3)
    volume.SetSpacing([voxel] * 3)
    volume.SetSize([n] * 3)
    fdk = rtk.FDKConeBeamReconstructionFilter[IMAGE].New()
    fdk.SetInput(0, volume.GetOutput())
    fdk.SetInput(1, projections)
    fdk.SetGeometry(geometry)
    fdk.GetRampFilter().SetTruncationCorrection(0.0)
    fdk.Update()
    itk.imwrite(fdk.GetOutput(), output)


scan, n, voxel, output = json.loads(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
# A small one first: ITK loads its libraries when they are first used.
small = output + ".small.mha"
itk.imwrite(itk.image_from_array(np.ones((8, 16, 16), np.float32)), small)
reconstruct(small, scan, 4, voxel, small)
os.remove(small)
start = time.perf_counter()
reconstruct(scan["projections"], scan, n, voxel, output)
print(time.perf_counter() - start)
