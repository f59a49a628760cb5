/** @file geometry_leap.h  Keys of LEAP's parameter files (internal). */
#ifndef FBP_SRC_GEOMETRY_LEAP_H
#define FBP_SRC_GEOMETRY_LEAP_H

#include "fbp/scan.h"

/** In LEAP's words; a fan beam is one of horizontal rays, a modular one has vectors for each view.
 */
enum fbp_leap_beam { FBP_LEAP_PARALLEL, FBP_LEAP_FAN, FBP_LEAP_CONE, FBP_LEAP_MODULAR };

enum fbp_leap_key {
    FBP_LEAP_GEOMETRY,
    FBP_LEAP_ANGLES,
    FBP_LEAP_ROWS,
    FBP_LEAP_COLUMNS,
    FBP_LEAP_PIXEL_HEIGHT,
    FBP_LEAP_PIXEL_WIDTH,
    FBP_LEAP_CENTER_ROW,
    FBP_LEAP_CENTER_COLUMN,
    FBP_LEAP_RANGE,
    FBP_LEAP_PHIS,
    FBP_LEAP_SOD,
    FBP_LEAP_SDD,
    FBP_LEAP_TAU,
    FBP_LEAP_PITCH,
    FBP_LEAP_TILT,
    FBP_LEAP_SOURCES,
    FBP_LEAP_CENTERS,
    FBP_LEAP_ROW_VECTORS,
    FBP_LEAP_COLUMN_VECTORS,
    FBP_LEAP_NX,
    FBP_LEAP_NY,
    FBP_LEAP_NZ,
    FBP_LEAP_VOXEL_WIDTH,
    FBP_LEAP_VOXEL_HEIGHT,
    FBP_LEAP_X,
    FBP_LEAP_Y,
    FBP_LEAP_Z,
    FBP_LEAP_DETECTOR,
    FBP_LEAP_SYMMETRY,
    FBP_LEAP_MU,
    FBP_LEAP_N_KEYS,
};

/** A key as it is now, and as older files have it; NULL: these have none. */
struct fbp_leap_name {
    const char *name, *old;
};

extern const struct fbp_leap_name fbp_leap_keys[FBP_LEAP_N_KEYS];

/** As it is now. */
const char *fbp_leap_key(enum fbp_leap_key key);

/** As fbp_geometry_format.save. */
fbp_status fbp_leap_save(const struct fbp_scan *scan, const char *path);

#endif /* FBP_SRC_GEOMETRY_LEAP_H */
