/** @file fbp.h  Filtered backprojection (cone-beam CT, fan and parallel beams, EPR imaging): the
 * whole public interface.
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
 * Errors: calls that can fail return fbp_status (types.h); fbp_message() has the reason and the
 * remedy.  Ownership: fbp_X_create() and fbp_X_open() have a destroy or close function, which sets
 * the caller's pointer to NULL; arguments are copied unless their description says that they must
 * outlive an object.  Threads: different objects may be used at the same time; calls for one object
 * must not overlap, unless its description allows that.  Cancellation: fbp_stop() ends all calls,
 * fbp_plan_stop() one run.
 *
 * scan.h describes a measurement, recon.h computes its volume, array.h reads and writes arrays,
 * geometry.h holds views and volumes.
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
