/** @file scan_file.h  Functions that read, load and save scan files (JSON), and load geometries;
 * the loading functions omit the public functions' checks of struct_size (internal).
 * Used by: scan/, folder/. */
#ifndef FBP_SRC_SCAN_FILE_H
#define FBP_SRC_SCAN_FILE_H

#include "fbp/geometry_file.h"

#include "scan/file/text.h"

/** State of reading one scan file. */
struct fbp_scan_file {
    struct fbp_json top, detector; /**< detector.object may be NULL */
    size_t n[3];                   /**< columns, rows, views of the projections */
    struct fbp_array_info info;    /**< header of the projections, if the file names projections */
    struct fbp_scan *scan; /**< scan that is being read; members that were not read yet are 0 */
    bool growing;          /**< true: the projections are still being written */
    bool geometry_only;    /**< true: projections may be missing */
    /** Pixel pitch from the caller, which replaces the file's pitch; 0: none. */
    double pitch_mm[2];
    const struct fbp_preparation *preparation; /**< given by the caller; NULL: not given */
    /** Function that loads the geometry file that the scan file names, fbp_geometry_read(); the
     * geometry file may be a scan file itself. */
    fbp_status (*load_geometry)(struct fbp_scan *out, const char *path, const char *format,
                                const struct fbp_geometry_known *known);
};

/** scan_read.c: read a scan file into f->scan.  The caller first sets f->top, load_geometry and the
 * values that it knows. */
fbp_status fbp_scan_read(struct fbp_scan_file *f);

/** scan_views.c: set scan->views from distances and angles, matrices, a list of views, or a
 * geometry file.  The caller first sets kind, n_views and panel. */
fbp_status fbp_scan_read_views(const struct fbp_scan_file *f);

/** Fail if o has one of the keys, which single blanks separate ("sod sdd").  why: reason in the
 * message, such as that another key determines the value. */
fbp_status fbp_scan_refuse_keys(const struct fbp_json *o, const char *keys, const char *why);
/** Read numbers from the value of `key`: one number, a list, or the path of a file with one number
 * per view.  *out: [*n], freed by the caller; *n 0: the key is absent. */
fbp_status fbp_scan_read_numbers(const struct fbp_scan_file *f, const char *key,
                                 const struct fbp_range *range, double **out, size_t *n);
/** Fail if a list does not have one entry per view. */
fbp_status fbp_scan_check_count(const struct fbp_scan_file *f, const char *key, size_t n);

/* scan_planes.c: plane integrals */

/** fbp_scan_read_planes() sets scan->views from the directions of plane integrals;
 * fbp_scan_read_plane_weights() sets the weights of the directions. */
fbp_status fbp_scan_read_planes(const struct fbp_scan_file *f);
fbp_status fbp_scan_read_plane_weights(const struct fbp_scan_file *f);
/** Get the number of directions. */
fbp_status fbp_scan_count_planes(const struct fbp_scan_file *f, size_t *n);
/** Read rows of `width` numbers from the value of `key` in o: a list, or the path of a file (width
 * 12: 3x4 matrices in plain text; else a table).  what: description of a row, for messages. */
fbp_status fbp_scan_load_rows(const struct fbp_scan_file *f, const struct fbp_json *o,
                              const char *key, size_t width, const char *what, double **out,
                              size_t *n);

/* geometry_file.c: loading */

/** Load a scan like fbp_scan_load(), but without checks of struct_size and of `known`, which is not
 * NULL.  geometry_only: the scan file need not name projections; without them, it must contain the
 * detector's columns and rows, and a list with one element per view. */
fbp_status fbp_scan_load_own(struct fbp_scan *out, const char *path,
                             const struct fbp_scan_known *known, bool geometry_only);

/** Load a scan like fbp_scan_load_own(), from JSON in memory, as if it were the scan file `path`,
 * which need not exist. */
fbp_status fbp_scan_of_json(struct fbp_scan *out, const char *path, const cJSON *root,
                            const struct fbp_scan_known *known, bool geometry_only);

/** Load a geometry like fbp_geometry_load(), but without a check of out->struct_size. */
fbp_status fbp_geometry_read(struct fbp_scan *out, const char *path, const char *format,
                             const struct fbp_geometry_known *known);

/* scan_save.c: saving */

/** Save a scan like fbp_scan_save(); the scan may have no projections. */
fbp_status fbp_scan_save_geometry(const struct fbp_scan *scan, const char *path);

/** malloc'ed form of `path` for a scan file at `scan_path`: relative if the file lies in or below
 *  the scan's folder, else absolute; NULL when out of memory. */
char *fbp_scan_relative(const char *scan_path, const char *path);

#endif /* FBP_SRC_SCAN_FILE_H */
