/** @file scan_file.h  The scan file (JSON): its readers and writers, and loading of scans into the
 * library's own structs (internal).
 */
#ifndef FBP_SRC_SCAN_FILE_H
#define FBP_SRC_SCAN_FILE_H

#include "fbp/geometry_file.h"

#include "scan/file/text.h"

/** A scan file that is being read. */
struct fbp_scan_file {
    struct fbp_json top, detector;             /**< detector.object may be NULL */
    size_t n[3];                               /**< columns, rows, views of the projections */
    struct fbp_array_info info;                /**< header of the projections, if they are named */
    struct fbp_scan *scan;                     /**< result; complete up to what was read */
    bool growing;                              /**< true: the projections may still be written */
    bool geometry_only;                        /**< true: projections may be missing */
    double pitch_mm[2];                        /**< pitch from the caller, which counts; 0: none */
    const struct fbp_preparation *preparation; /**< from the caller; NULL: none */
    /** fbp_geometry_read(): a geometry file that this one names may be a scan file, too. */
    fbp_status (*load_geometry)(struct fbp_scan *out, const char *path, const char *format,
                                const struct fbp_geometry_known *known);
};

/** Read a whole scan file into f->scan; f->top, load_geometry and the caller's facts are set
 *  (scan_read.c). */
fbp_status fbp_scan_read(struct fbp_scan_file *f);

/** Set scan->views from distances and angles, matrices, views or a geometry file; kind and panel
 * are known (scan_views.c). */
fbp_status fbp_scan_read_views(const struct fbp_scan_file *f);

/** Fail if one of these keys is present, because another key or the kind determines its value. */
fbp_status fbp_scan_refuse_keys(const struct fbp_json *o, const char *const *keys, size_t n,
                                const char *why);
/** Fail if a list does not have one entry per view. */
fbp_status fbp_scan_check_count(const struct fbp_scan_file *f, const char *key, size_t n);

/* Plane integrals (scan_planes.c). */

bool fbp_scan_has_planes(const struct fbp_scan *scan);
/** Set views and weights. */
fbp_status fbp_scan_read_planes(const struct fbp_scan_file *f);
fbp_status fbp_scan_read_plane_weights(const struct fbp_scan_file *f);
/** Number of directions. */
fbp_status fbp_scan_count_planes(const struct fbp_scan_file *f, size_t *n);
/** True if samples and voxels have the positions that eprit gives them. */
bool fbp_scan_is_eprit(const struct fbp_scan_file *f);
/** Fail if a scan of lines has a key of plane integrals. */
fbp_status fbp_scan_refuse_planes(const struct fbp_scan_file *f);

/* Loading (geometry_file.c). */

/** fbp_scan_load_known() into a struct of the library's own; known: complete and checked.
 *  geometry_only: a scan file need not name projections; the detector has columns and rows then,
 * and the views are in a list. */
fbp_status fbp_scan_load_own(struct fbp_scan *out, const char *path,
                             const struct fbp_scan_known *known, bool geometry_only);

/** The same from the JSON of a scan file at `path`, which need not exist. */
fbp_status fbp_scan_of_json(struct fbp_scan *out, const char *path, const cJSON *root,
                            const struct fbp_scan_known *known, bool geometry_only);

/** fbp_geometry_load() into a struct of the library's own. */
fbp_status fbp_geometry_read(struct fbp_scan *out, const char *path, const char *format,
                             const struct fbp_geometry_known *known);

/* Saving (scan_save.c). */

/** fbp_scan_save() of a scan that may name no projections. */
fbp_status fbp_scan_save_geometry(const struct fbp_scan *scan, const char *path);

/** malloc'ed name of `path` in a scan file at `scan_path`: relative if it lies in or below the
 *  scan's folder, else absolute; NULL when out of memory. */
char *fbp_scan_relative(const char *scan_path, const char *path);

#endif /* FBP_SRC_SCAN_FILE_H */
