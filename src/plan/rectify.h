/** @file rectify.h  Views of a detector that is rolled in its own plane, as those of an upright one
 *  (internal).
 *
 * The ramp filter runs along lines that lie, with the source, in planes parallel to the direction
 * in which the source moves.  Rows are such lines if the detector is perpendicular to the ray
 * through the axis and its columns are parallel to the axis.  Each view is resampled onto such a
 * detector at the same distance: a homography of the image, interpolated by cubic B-splines.
 *
 * Columns of the upright detector reach as far as the row at mid-height of the volume was measured.
 * If the panel is offset, the shorter side ends where all rows were measured and the longer one at
 * the last corner.  Rows reach as far as the panel sees the axis.  Pixels that were not measured
 * get the value of the nearest one that was.
 */
#ifndef FBP_SRC_RECTIFY_H
#define FBP_SRC_RECTIFY_H

#include "plan/ahead.h"

struct fbp_rectify {
    bool used;
    double roll_rad;           /**< angle of rows against the plane of rotation, mean of views */
    struct fbp_ahead measured; /**< scan, prep and row order of what is read; no pass ahead */
    struct fbp_scan scan;      /**< of upright views: line integrals; owns views alone */
    double (*matrix)[9];       /**< [view] (column, row, 1) upright -> measured, homogeneous */
    char warning[300];         /**< what cannot be corrected; "": nothing */
};

/**
 * Not `used` if rows are perpendicular to the axis within 0.05 degrees, or within what the sources
 * tell of the axis; within 0.5 degrees if a centred panel wobbles by more than it is rolled.  Nor
 * if views are filtered, or are integrals over planes.
 *
 * scan:   what the views are read as; outlives *r
 * wanted: size and voxel of the volume, as fbp_grid_resolve() takes them
 */
fbp_status fbp_rectify_create(struct fbp_rectify *r, const struct fbp_scan *scan,
                              const struct fbp_grid *wanted, bool top_down);
void fbp_rectify_clear(struct fbp_rectify *rectify);

/** Measured rows [*first, *first + *n) whose samples determine upright rows [row0, row0 + n_rows).
 */
void fbp_rectify_rows(const struct fbp_rectify *rectify, size_t view, size_t row0, size_t n_rows,
                      size_t *first, size_t *n);

/** Floats of `work` below, for any rows of a view. */
size_t fbp_rectify_floats(const struct fbp_rectify *rectify);

/** Upright rows [row0, row0 + n_rows) of a view.  Bits do not depend on the band of rows.
 *  in: the measured rows that fbp_rectify_rows() gives */
void fbp_rectify_view(const struct fbp_rectify *rectify, size_t view, size_t row0, size_t n_rows,
                      const float *in, float *work, float *out);

/** Seconds that one core takes for a view, about; 0 if it is not `used`. */
double fbp_rectify_seconds(const struct fbp_rectify *rectify);

/** Appended to the line that is there. */
void fbp_rectify_describe(const struct fbp_rectify *rectify, char *line, size_t n);

uint64_t fbp_rectify_hash(uint64_t h, const struct fbp_rectify *rectify);

#endif /* FBP_SRC_RECTIFY_H */
