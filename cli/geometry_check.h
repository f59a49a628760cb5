/** @file geometry_check.h  What one wants to know before a long run: where things land. */
#ifndef FBP_CLI_GEOMETRY_CHECK_H
#define FBP_CLI_GEOMETRY_CHECK_H

#include "geometry_flips.h"

/** Least and greatest of a coordinate over the views, and where. */
struct span {
    double lo, hi;
    size_t lo_view, hi_view;
};

enum { MAX_WARNINGS = 8 };

/** Of plane integrals. */
struct check_planes {
    double cutoff;    /**< of the filter, for which directions are counted */
    double reach_mm;  /**< half the longest side of the volume */
    double needed;    /**< directions that it takes at this cut-off */
    double enough_at; /**< greatest cut-off that the directions there are serve */
    double sum;       /**< of the weights, of 2 pi */
    char weights[160];
    struct fbp_meridians meridians; /**< n_planes 0: there are none */
};

struct check {
    char error[400]; /**< why nothing can be reconstructed; "": all is well */
    bool seen;       /**< every view sees the axis; else nothing is known of volume and flips */
    struct fbp_geometry_facts facts;
    struct fbp_grid grid;
    struct span iso[2];     /**< column, row where the iso-centre lands */
    struct span corners[2]; /**< column, row where the volume's corners land */
    size_t behind;          /**< views in which a corner is not in front of the source */
    size_t rows[2];         /**< detector rows [0, 1) that hold every tap of the volume */
    double theta_deg[2];    /**< of the first and last view: the source is at (d cos, d sin) */
    double axis[2][2];      /**< column of the axis at the lowest and highest z of the field of
                                 view: least and greatest over the views */
    struct flip flips[N_FLIPS];
    struct check_planes planes;
    double flip[2]; /**< pixels the axis moves by if columns, rows are read backwards */
    size_t n_warnings;
    char warnings[MAX_WARNINGS][400];
};

/** Whatever can be said of a scan, also of one that cannot be reconstructed (c->error); cutoff: of
 *  the filter of plane integrals.
 *  @return 0, or 1 with the failure reported, which names the file `path`. */
int check_geometry(const struct fbp_scan *scan, const char *path, double cutoff, struct check *c);
/** The same of plane integrals, whose facts are found: c->planes.cutoff is set. */
int check_planes(const struct fbp_scan *scan, struct check *c);
int check_planes_text(const struct fbp_scan *scan, const struct check *c);
int check_planes_json(const struct fbp_scan *scan, const struct check *c);

/** One more warning, if there is room. */
void check_warn(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

int check_print_text(const struct fbp_scan *scan, const struct check *c);
int check_print_json(const struct fbp_scan *scan, const struct check *c);

#endif /* FBP_CLI_GEOMETRY_CHECK_H */
