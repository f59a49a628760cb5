/** @file geometry_check.h  Results of `fbp geometry check`: projections of axis and volume onto the
 * detector, coverage, effects of flips, warnings.  geometry_check.c computes the results,
 * geometry_planes.c those of plane integrals, geometry_text.c prints; cmd_geometry.c calls. */
#ifndef FBP_CLI_GEOMETRY_CHECK_H
#define FBP_CLI_GEOMETRY_CHECK_H

#include "cli.h"

#include "geometry/directions.h"

/**
 * Effect of one combination of flips.  A flipped geometry assigns wrong rays to the object's
 * points.  If one motion of the whole object (a rotation about the axis, possibly with mirrors)
 * moves every point onto its assigned rays, the object appears sharp in another pose; otherwise it
 * appears blurred.  flips_of() searches the best motion for sample points of the field of view.
 */
struct flip {
    unsigned flips;             /**< flags of enum fbp_flip */
    double turn_rad;            /**< rotation of the object about the axis, after mirrors */
    bool mirrored, upside_down; /**< mirrored across, along the axis */
    double rms_mm, max_mm;      /**< distance of points from their rays: rms, greatest */
    bool sharp;                 /**< max_mm is below a quarter voxel: invisible in the data */
};

enum { N_FLIPS = 7 };

/** Least and greatest value of a coordinate over the views, with the indices of these views. */
struct span {
    double lo, hi;
    size_t lo_view, hi_view;
};

enum { MAX_WARNINGS = 8 };

/** Results for plane integrals (EPR imaging). */
struct check_planes {
    double cutoff;     /**< of the filter, as a fraction of the Nyquist frequency */
    double reach_mm;   /**< half the longest side of the volume */
    double needed;     /**< number of directions that the volume needs at `cutoff` */
    double enough_at;  /**< greatest cut-off for which the scan has enough directions */
    double sum;        /**< sum of the weights, divided by 2 pi */
    char weights[160]; /**< description of the weights */
    /** Planes through a common axis for two-stage EPR: only n, axis and most are set; n 0: none. */
    struct fbp_meridian_planes meridians;
};

struct check {
    char error[400]; /**< reason why no reconstruction is possible; "": none */
    bool seen;       /**< the field of view is not empty; false: volume and flips are unknown */
    struct fbp_geometry_facts facts;
    struct fbp_grid grid;
    struct span iso[2];     /**< column, row of the projected iso-centre */
    struct span corners[2]; /**< column, row of the projected corners of the volume */
    size_t behind;          /**< views in which a corner is not in front of the source */
    size_t rows[2];         /**< detector rows [0] to [1] - 1 that the volume needs */
    double theta_deg[2];    /**< source angle of first and last view: (d cos, d sin) */
    /** Columns of the projected axis at the lowest [0] and highest [1] z of the field of view:
     *  least and greatest over the views. */
    double axis[2][2];
    struct flip flips[N_FLIPS];
    struct check_planes planes;
    double flip[2]; /**< how far the iso-centre's projection would move if the columns, or the rows,
                       were reversed [pixels] */
    size_t n_warnings;
    char warnings[MAX_WARNINGS][400];
};

/** Compute all results for a scan, also if the scan cannot be reconstructed (c->error).
 *  cutoff: of the filter of plane integrals; path: file name for error messages.
 *  @return 0, or 1 after an error message. */
int check_geometry(const struct fbp_scan *scan, const char *path, double cutoff, struct check *c);

/** Print all results as text, or as JSON; returns the exit status. */
int check_print_text(const struct fbp_scan *scan, const struct check *c);
int check_print_json(const struct fbp_scan *scan, const struct check *c);

#endif /* FBP_CLI_GEOMETRY_CHECK_H */
