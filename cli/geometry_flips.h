/** @file geometry_flips.h  Predict how the object would appear if the detector columns, the rows or
 * the direction of rotation of a scan were reversed; check_geometry() calls flips_of(). */
#ifndef FBP_CLI_GEOMETRY_FLIPS_H
#define FBP_CLI_GEOMETRY_FLIPS_H

#include "cli.h"

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

/** Compute all combinations: out[i] is for flips = i + 1.  Returns false if out of memory. */
bool flips_of(const struct fbp_scan *scan, const struct fbp_geometry_facts *facts, double voxel_mm,
              struct flip out[N_FLIPS]);

#endif /* FBP_CLI_GEOMETRY_FLIPS_H */
