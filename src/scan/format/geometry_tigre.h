/** @file geometry_tigre.h  TIGRE's geometry, from whatever file it comes (internal).
 *
 * Names and order are those of TIGRE's Python class: (V, U) of the detector, (z, y, x) of the
 * volume, rotDetector about (x, y, z).  MATLAB's order is the other way round but for rotDetector.
 */
#ifndef FBP_SRC_GEOMETRY_TIGRE_H
#define FBP_SRC_GEOMETRY_TIGRE_H

#include "scan/file/geometry_format.h"

/** n rows of `width` numbers: one for all views, or one a view.  NULL: zeros. */
struct fbp_tigre_list {
    double *v;
    size_t n, width;
};

struct fbp_tigre {
    bool parallel;
    double n_detector[2], d_detector[2], s_detector[2]; /**< 0: not given */
    double n_voxel[3], d_voxel[3], s_voxel[3];          /**< 0: not given */
    struct fbp_tigre_list dsd, dso, cor, off_detector, rot_detector, off_origin;
    struct fbp_tigre_list angles; /**< [rad], of width 1, or 3 (rotations about z, y, z) */
};

void fbp_tigre_clear(struct fbp_tigre *t);

/** Kind, views, panel, volume and row order of a scan. */
fbp_status fbp_tigre_to_scan(const struct fbp_tigre *t, const char *path,
                             const struct fbp_geometry_known *known, struct fbp_scan *out);

/** Is it a MAT file with a struct `geo`?  head: its first n bytes. */
fbp_status fbp_tigre_is_mat(const char *path, const unsigned char *head, size_t n, bool *is);

/** From a MAT file of a struct `geo` and a list `angles`. */
fbp_status fbp_tigre_read_mat(struct fbp_tigre *t, const char *path);

/** As JSON, in Python's order. */
fbp_status fbp_tigre_save(const struct fbp_scan *scan, const char *path);

#endif /* FBP_SRC_GEOMETRY_TIGRE_H */
