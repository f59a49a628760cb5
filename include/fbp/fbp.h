/** @file fbp.h  All public headers of libfbp: filtered backprojection for cone-beam CT, fan and
 * parallel beams, and EPR imaging.
 *
 *     #include <fbp/fbp.h>
 *
 *     struct fbp_scan scan = {.struct_size = sizeof scan};
 *     struct fbp_report report = {.struct_size = sizeof report};
 *     fbp_plan *plan = NULL;
 *
 *     if (fbp_scan_load(&scan, "scan.json") != FBP_OK ||
 *         fbp_plan_create(&plan, &scan, fbp_recon_params(.filter = FBP_FILTER_HANN)) != FBP_OK ||
 *         fbp_plan_run(plan, "volume.mha", &report) != FBP_OK)
 *         fprintf(stderr, "%s\n", fbp_message());
 *     fbp_plan_destroy(&plan);
 *     fbp_scan_clear(&scan);
 *
 * Errors: functions that can fail return fbp_status (types.h); fbp_message() then contains the
 * reason and the remedy.
 *
 * Ownership: each fbp_X_create() or fbp_X_open() has a destroy or close function, which sets the
 * caller's pointer to NULL.  Arguments are copied, unless their description requires that they
 * outlive an object.
 *
 * Threads: different objects may be used at the same time.  Calls for one object must not overlap,
 * unless its description allows this.
 *
 * Cancellation: fbp_stop() ends all calls of the process, fbp_plan_stop() one run.
 *
 * Where to begin: scan.h describes a measurement, recon.h computes its volume, array.h reads and
 * writes arrays, geometry.h has the types of views and volumes.
 */
#ifndef FBP_FBP_H
#define FBP_FBP_H

#include "fbp/adjust.h"
#include "fbp/analysis.h"
#include "fbp/array.h"
#include "fbp/callback.h"
#include "fbp/device_memory.h"
#include "fbp/directions.h"
#include "fbp/folder.h"
#include "fbp/geometry.h"
#include "fbp/geometry_file.h"
#include "fbp/phantom.h"
#include "fbp/picture.h"
#include "fbp/ranges.h"
#include "fbp/recon.h"
#include "fbp/scan.h"
#include "fbp/team.h"
#include "fbp/types.h"
#include "fbp/version.h"

#endif /* FBP_FBP_H */
