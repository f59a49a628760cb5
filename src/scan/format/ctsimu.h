/** @file ctsimu.h  CTSimU scenarios and metadata (internal).
 *
 * Format versions 0.9 to 1.2 of CTSimU (BAM and others); its toolbox is the reference: stage,
 * source and detector are frames (centre, u, v = w x u, w) in the world; the stage turns about its
 * w and carries the volume, whose x, y, z are its u, v, w.
 */
#ifndef FBP_SRC_CTSIMU_H
#define FBP_SRC_CTSIMU_H

#include "scan/file/geometry_format.h"

#include <cjson/cJSON.h>

/** A part of a document: `at` is NULL where it is absent; `name` of it, for messages. */
struct fbp_ct {
    const char *file;
    const char *name;
    const cJSON *at;
};

enum fbp_ct_unit { FBP_CT_NUMBER, FBP_CT_MM, FBP_CT_RAD };

/** The member at a path such as "stage.center"; absent and null are alike: NULL. */
const cJSON *fbp_ct_at(const cJSON *root, const char *path);

/** "FILE: NAME.KEY: WHAT" as an error. */
fbp_status fbp_ct_wrong(const struct fbp_ct *in, const char *key, const char *what);

/** A number, or {"value", "unit", "drifts"}, in mm or radians.  *found false: not there.  Drifts
 *  that a reconstruction is to know are refused, others do not matter. */
fbp_status fbp_ct_number(const struct fbp_ct *in, const char *key, enum fbp_ct_unit unit,
                         double *out, bool *found);

/** A whole number from 1 to 1e6 that must be there. */
fbp_status fbp_ct_count(const struct fbp_ct *in, const char *key, size_t *out);

/** Numbers of three members; *found: all of them are there. */
fbp_status fbp_ct_vector(const struct fbp_ct *in, const char *const axes[3], enum fbp_ct_unit unit,
                         double out[3], bool *found);

/** What the file is: "CTSimU Scenario", "CTSimU Metadata"; NULL. */
const char *fbp_ct_type(const cJSON *root);

/** Kind, views, panel and row order from a scenario. */
fbp_status fbp_ct_scenario(struct fbp_scan *out, const char *file, const cJSON *root,
                           const struct fbp_geometry_known *known);

/** Projections, darks, flats, volume from metadata; they must fit the scenario that is in *out. */
fbp_status fbp_ct_metadata(struct fbp_scan *out, const char *file, const cJSON *root);

#endif /* FBP_SRC_CTSIMU_H */
