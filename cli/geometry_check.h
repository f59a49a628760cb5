/** @file geometry_check.h Results of `fbp geometry check`: projections of axis and volume onto the
 * detector, coverage, effects of flips, warnings. geometry_check.c computes them, geometry_text.c
 * prints them.
 * Used by: cmd_geometry.c, geometry_check.c, geometry_text.c. */
#ifndef FBP_CLI_GEOMETRY_CHECK_H
#define FBP_CLI_GEOMETRY_CHECK_H

#include "cli.h"

#include "geometry/directions.h"

/** Effect of flips. A flipped geometry assigns wrong rays to the object's points. If one motion of
 * the whole object (a rotation about the axis, possibly with mirrors) moves every point onto its
 * rays, it appears sharp in another pose; otherwise blurred. flips_of() searches for the best
 * motion of sample points of the field of view. */
struct flip {
    unsigned flips;  /**< what is reversed: flags of enum fbp_flip */
    double turn_rad; /**< angle by which the object appears rotated, after mirroring [rad] */
    /** mirrored: the object appears mirrored left to right; upside_down: mirrored top to bottom */
    bool mirrored, upside_down;
    /** root mean square and greatest distance from the moved points to the rays assigned to them */
    double rms_mm, max_mm;
    bool sharp; /**< max_mm is below a quarter voxel: the slices are sharp */
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
    double cutoff;   /**< cut-off frequency of the filter, as a fraction of the Nyquist frequency */
    double reach_mm; /**< half the longest side of the volume */
    double needed;   /**< number of directions that avoid streaks at the frequency `cutoff` */
    double enough_at;  /**< greatest cut-off [Nyquist frequency] at which the directions suffice */
    double sum;        /**< sum of the weights, divided by 2 pi */
    char weights[160]; /**< description of the weights */
    /** Planes through one axis that contain all directions, for backprojection in two stages; only
     * members n, axis and most are set. n 0: there are no such planes. */
    struct fbp_meridian_planes meridians;
};

struct check {
    char error[400]; /**< reason why no reconstruction is possible; "": none */
    /** true: the field of view is not empty; false: volume and flips are not computed */
    bool seen;
    struct fbp_geometry_facts facts;
    struct fbp_grid grid;
    struct span iso[2]; /**< range over views of the projected iso-centre: column [0], row [1] */
    struct span corners[2]; /**< range of the volume's projected corners: columns [0], rows [1] */
    size_t behind;          /**< views with a corner that is not in front of the source */
    size_t rows[2];         /**< first and last + 1 of the detector rows that the volume needs */
    double theta_deg[2]; /**< source angle in the first [0], last [1] view, from x to y [degrees] */
    /** [end of the axis][least, greatest]: range, over the views, of the detector column of the
     * lower [0] and upper [1] end of the rotation axis in the field of view */
    double axis[2][2];
    struct flip flips[N_FLIPS];
    struct check_planes planes;
    double flip[2]; /**< shift of the iso-centre [pixels] if columns [0] or rows [1] were flipped */
    size_t n_warnings;
    char warnings[MAX_WARNINGS][400];
};

/** Compute all results for a scan. If the scan cannot be reconstructed, c->error states why, and
 * the check continues. cutoff: cut-off frequency of the filter of plane integrals; path: file name
 * for error messages. @return 0, or 1 after an error message. */
int check_geometry(const struct fbp_scan *scan, const char *path, double cutoff, struct check *c);

/** Print all results of `fbp geometry check` as text, or as JSON; returns the exit status. */
int check_print_text(const struct fbp_scan *scan, const struct check *c);
int check_print_json(const struct fbp_scan *scan, const struct check *c);

#endif /* FBP_CLI_GEOMETRY_CHECK_H */
