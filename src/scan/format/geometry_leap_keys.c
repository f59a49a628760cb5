#include "scan/format/geometry_leap.h"

const struct fbp_leap_name fbp_leap_keys[FBP_LEAP_N_KEYS] = {
    [FBP_LEAP_GEOMETRY] = {"geometry", "proj_geometry"},
    [FBP_LEAP_ANGLES] = {"numAngles", "proj_nangles"},
    [FBP_LEAP_ROWS] = {"numRows", "proj_nrows"},
    [FBP_LEAP_COLUMNS] = {"numCols", "proj_ncols"},
    [FBP_LEAP_PIXEL_HEIGHT] = {"pixelHeight", "proj_pheight"},
    [FBP_LEAP_PIXEL_WIDTH] = {"pixelWidth", "proj_pwidth"},
    [FBP_LEAP_CENTER_ROW] = {"centerRow", "proj_crow"},
    [FBP_LEAP_CENTER_COLUMN] = {"centerCol", "proj_ccol"},
    [FBP_LEAP_RANGE] = {"angularRange", "proj_arange"},
    [FBP_LEAP_PHIS] = {"phis", "proj_phis"},
    [FBP_LEAP_SOD] = {"sod", "proj_sod"},
    [FBP_LEAP_SDD] = {"sdd", "proj_sdd"},
    [FBP_LEAP_TAU] = {"tau", "proj_tau"},
    [FBP_LEAP_PITCH] = {"helicalPitch", "proj_helicalpitch"},
    [FBP_LEAP_TILT] = {"tiltAngle", "proj_tiltAngle"},
    [FBP_LEAP_SOURCES] = {"sourcePositions", "proj_srcpos"},
    [FBP_LEAP_CENTERS] = {"moduleCenters", "proj_modcenter"},
    [FBP_LEAP_ROW_VECTORS] = {"rowVectors", "proj_rowvec"},
    [FBP_LEAP_COLUMN_VECTORS] = {"colVectors", "proj_colvec"},
    [FBP_LEAP_NX] = {"numX", "img_dimx"},
    [FBP_LEAP_NY] = {"numY", "img_dimy"},
    [FBP_LEAP_NZ] = {"numZ", "img_dimz"},
    [FBP_LEAP_VOXEL_WIDTH] = {"voxelWidth", "img_pwidth"},
    [FBP_LEAP_VOXEL_HEIGHT] = {"voxelHeight", "img_pheight"},
    [FBP_LEAP_X] = {"offsetX", "img_offsetx"},
    [FBP_LEAP_Y] = {"offsetY", "img_offsety"},
    [FBP_LEAP_Z] = {"offsetZ", "img_offsetz"},
    [FBP_LEAP_DETECTOR] = {"detectorType", NULL},
    [FBP_LEAP_SYMMETRY] = {"axisOfSymmetry", "proj_axisofsymmetry"},
    [FBP_LEAP_MU] = {"muCoeff", "mucoeff"},
};

const char *fbp_leap_key(enum fbp_leap_key key)
{
    return fbp_leap_keys[key].name;
}
