/** @file calibrate.h  Parts of fbp_calibrate() (calibrate.c): reading of corrected views
 * (sinogram.c), change of a geometry by a few numbers, and the consistency of pairs of cone-beam
 * views (epipolar.c); internal.
 * Used by: cli/, analysis/. */
#ifndef FBP_SRC_ANALYSIS_CALIBRATE_H
#define FBP_SRC_ANALYSIS_CALIBRATE_H

#include "fbp/analysis.h"

#include "base/base.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "prep/prep.h"

/* sinogram.c */

/** Views of a scan, read as line integrals: after reduction, dark, flat, logarithm and bad pixels.
 */
struct fbp_view_reader {
    struct fbp_panel panel;
    fbp_source *own;     /**< source of the scan's projections; NULL: the caller gave a source */
    fbp_source *views;   /**< stored views, reduced */
    fbp_source *reduced; /**< NULL: no reduction, and the beam is constant */
    struct fbp_beam *beam;
    bool top_down;             /**< row order of `views` */
    struct fbp_prep prep;      /**< its margin_rows: rows on both sides that bad pixels need */
    struct fbp_images *images; /**< mask of bad pixels that were found */
};

/** Open the views of a scan; source: stored views, or NULL: the scan's projections. */
fbp_status fbp_view_reader_open(struct fbp_view_reader *r, const struct fbp_scan *scan,
                                fbp_source *source);
void fbp_view_reader_close(struct fbp_view_reader *r);

/** Read n rows from `row` (0: bottom) on to out[n][columns]; work: n + 2 prep.margin_rows rows. */
fbp_status fbp_view_reader_rows(struct fbp_view_reader *r, size_t view, size_t row, size_t n,
                                float *work, float *out);

/** Sort the views by their angles counter-clockwise about the axis, starting after the largest
 * gap: order[i] is the view at angles[i] [rad]. */
fbp_status fbp_views_sort(const struct fbp_scan *scan, const struct fbp_geometry_facts *f,
                          size_t *order, double *angles);

/** Get the angles of the views as fbp_views_sort() does, angles[n_views] in the order of the scan
 * and sorted[n_views] in ascending order [rad]. */
fbp_status fbp_views_angles(const struct fbp_scan *scan, const struct fbp_geometry_facts *f,
                            double *angles, double *sorted);

/* calibrate.c */

/** Change of the geometry of all views, values per index enum fbp_calibrated: mm for COLUMN and
 * ROW, radians for ROLL, PITCH and YAW, relative for SDD and ARC. */
struct fbp_change {
    double p[FBP_CALIBRATED_COUNT];
};

/**
 * Change n views about their axis.  The panel is shifted by COLUMN along u and by ROW along v,
 * rotated about the projected iso-centre by PITCH about u, YAW about v and ROLL about its normal,
 * and moved to 1 + SDD times its distance from the source; the angle between a view and the middle
 * of the arc is multiplied by 1 + ARC.
 */
void fbp_views_change(const struct fbp_view *from, struct fbp_view *to, size_t n,
                      enum fbp_kind kind, const double axis[3], const double *angles,
                      const struct fbp_change *c);

/* epipolar.c
 *
 * A plane through two source positions cuts both panels in a line.  The derivative of its plane
 * integral with respect to the plane's position follows from each of the two views (Grangeat,
 * Mathematical Methods in Tomography (1991) 66), so both must agree if the geometry is right
 * (Aichert et al., IEEE Trans. Med. Imaging 34 (2015) 2205).  Lines leave the panel through its
 * sides only, so the object may be longer than the panel, but not wider. */

/** Views of a scan whose pairs are compared. */
struct fbp_epipolar {
    size_t n_views;
    struct fbp_panel panel;
    struct fbp_view *views; /**< [n_views] geometry of the scan file, sorted by angle */
    double *angles;         /**< [n_views], ascending [rad] */
    bool closed;            /**< the views cover a full turn */
    size_t *order;          /**< [n_views] view of the scan */
    double axis[3];
    /** [view][row / 2][column] derivatives along columns of the smoothed views, weighted by the
     * cosine of the ray's angle to the panel's normal; two rows per row of the panel, and sums of
     * `bin` columns. */
    float *images;
    size_t bin, filtered_columns;
    double half_height_mm; /**< planes cut the axis between -half_height_mm and half_height_mm */
    size_t n_pairs, n_planes;
    size_t (*pairs)[3]; /**< two views, and the index of their separation */
    fbp_pool *pool;
};

/** Read at most most_views views, and select at most four pairs per view.  scan: reduced so that
 * its panel has a few hundred columns.  single: an offset per view will be fitted. */
fbp_status fbp_epipolar_create(struct fbp_epipolar *e, const struct fbp_scan *scan,
                               fbp_source *source, size_t most_views, bool single, fbp_pool *pool);
void fbp_epipolar_clear(struct fbp_epipolar *e);

/** Fit of a change of the geometry to pairs of views. */
struct fbp_epipolar_fit {
    struct fbp_change change;
    double error[FBP_CALIBRATED_COUNT]; /**< standard deviations, from parts of the pairs */
    double misfit; /**< sum of (a - b)^2 over sum of a^2 + b^2 of the compared values */
};

/** Compute the misfit of a change of the geometry. */
fbp_status fbp_epipolar_misfit(const struct fbp_epipolar *e, const struct fbp_change *c,
                               double *misfit);

/** Number of parts of the pairs or planes, each left out once to find uncertainties. */
enum { FBP_EPIPOLAR_GROUPS = 8 };

/** Find the change for which pairs of views agree best, beginning with fit->change; only values i
 * with free_values[i] vary.  offsets: NULL, or [FBP_EPIPOLAR_GROUPS + 1][n_views] of single views
 * along their columns [pixels], which vary, too: the last from all planes, number p from all planes
 * but part p.  e->views is the same before and after. */
fbp_status fbp_epipolar_fit(struct fbp_epipolar *e, const bool free_values[FBP_CALIBRATED_COUNT],
                            struct fbp_epipolar_fit *fit, double *offsets);

/** Copy a scan, reduced to at most `columns` columns and `views` views, but at least 24 rows (or
 * its own, if there are fewer); bin: columns per column of the copy. */
fbp_status fbp_calibrate_reduce(const struct fbp_scan *scan, size_t columns, size_t views,
                                struct fbp_scan *out, size_t *bin);

/* drift.c
 *
 * Parallel beams: sums along rows at right angles to the axis are the same in all views, except for
 * a shift along columns; the centre of mass along rows moves like a sine (Helgason and Ludwig).
 * Cone beams: pairs of views determine a shift of each view along columns (epipolar.c).  The centre
 * of mass along rows is a sum of a few harmonics of the angle: only faster movement is determined.
 */

/**
 * Find the offsets[view][2] of the panel along rows and columns [pixels], in addition to the views
 * of the scan; 0 if they are not significant.
 *
 * e             pairs of views, of cone beams; NULL: parallel beams
 * fit           change of e's views, which is fitted together with the offsets
 * axis, angles  of rotation, and of the views [rad]
 */
fbp_status fbp_drift_find(const struct fbp_scan *scan, fbp_source *source, struct fbp_epipolar *e,
                          struct fbp_epipolar_fit *fit, const double axis[3], const double *angles,
                          struct fbp_drift out[2], double (*offsets)[2]);

/* wedge.c */

/** Remove from v[n] its component along a unit vector. */
void fbp_remove_component(const double *unit, double *v, size_t n);

/** Make the vector after the first n_vectors vectors [n] of a basis orthonormal to them; false: it
 * depends on them. */
bool fbp_orthonormalise(double *basis, size_t n_vectors, size_t n);

/* beads.c */

enum { FBP_BEADS_VIEWS = 720 }; /**< greatest number of views of fbp_beads_fit() */

/**
 * Find the beads of a phantom in the views of a cone-beam scan, and fit their positions and the
 * geometry to their centroids.
 *
 * uncertainty  half of the 95 % confidence intervals, as the change; INFINITY: not observable
 * out          misfits, direction of rotation and `reliable` are set
 * @return FBP_ERR_UNSUPPORTED: fewer than two beads, or too few views.
 */
fbp_status fbp_beads_fit(const struct fbp_scan *scan, fbp_source *source, struct fbp_change *change,
                         double uncertainty[FBP_CALIBRATED_COUNT], struct fbp_calibration *out);

/** Solve A x = b for n unknowns by Gauss's elimination, A[n][n] and b are overwritten.  False: A is
 * singular. */
bool fbp_solve(double *A, double *b, size_t n, double *x);

#endif /* FBP_SRC_ANALYSIS_CALIBRATE_H */
