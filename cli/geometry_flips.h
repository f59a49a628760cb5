/** @file geometry_flips.h  What it would look like if a scan were read the wrong way round. */
#ifndef FBP_CLI_GEOMETRY_FLIPS_H
#define FBP_CLI_GEOMETRY_FLIPS_H

#include "cli.h"

/**
 * A scan read wrongly shows the object in another pose where one motion of the whole object (a turn
 * about the axis, perhaps mirrored) takes every point onto the rays that are believed to have met
 * it, and smears it where none does.  The best motion is searched for, with points of the field of
 * view.
 */
struct flip {
    unsigned flips;             /**< enum fbp_flip */
    double turn_rad;            /**< of the object about the axis, after the mirrors */
    bool mirrored, upside_down; /**< across the axis; along it */
    double rms_mm, max_mm;      /**< by how much points are smeared */
    bool sharp;                 /**< by so little that the data do not tell */
};

/** All combinations: flips are 1 to N_FLIPS, out[i] for i + 1.  False: out of memory. */
enum { N_FLIPS = 7 };

bool flips_of(const struct fbp_scan *scan, const struct fbp_geometry_facts *facts, double voxel_mm,
              struct flip out[N_FLIPS]);

#endif /* FBP_CLI_GEOMETRY_FLIPS_H */
