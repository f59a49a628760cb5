/** @file fbp.h  All public headers of libfbp: filtered backprojection for cone-beam CT, fan and
 * parallel beams, and EPR imaging.  Programs include it, or fbp.hpp for C++.
 *
 * A reconstruction turns a scan (views, and how they were measured) into a volume.  Views and
 * volume are arrays in files, in memory, or behind functions of the program:
 *
 *     struct fbp_scan     the measurement: geometry, files, corrections              (scan.h)
 *     fbp_plan            the decisions for one reconstruction; runs once or often   (recon.h)
 *     fbp_source          an array that is read                                      (array.h)
 *     fbp_sink            an array that is written                                   (array.h)
 *
 * A complete program, which reconstructs a scan file (examples/first.c):
 *
 *     #include <fbp/fbp.h>
 *
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         struct fbp_scan scan = {.struct_size = sizeof scan};
 *         struct fbp_report report = {.struct_size = sizeof report};
 *         fbp_plan *plan = NULL;
 *
 *         fbp_status status = fbp_scan_load(&scan, "scan.json", NULL);
 *         if (status == FBP_OK)
 *             status = fbp_plan_create(&plan, &scan, fbp_recon_params(.filter = FBP_FILTER_HANN));
 *         if (status == FBP_OK)
 *             status = fbp_plan_run(plan, "volume.mha", &report);
 *         if (status == FBP_OK)
 *             printf("values from %g to %g in %.2f s\n", report.min, report.max, report.total);
 *         else
 *             fprintf(stderr, "%s\n", fbp_message());
 *         fbp_plan_destroy(&plan);
 *         fbp_scan_clear(&scan);
 *         return status != FBP_OK;
 *     }
 *
 * Build it with `cc first.c $(pkg-config --cflags --libs fbp)`.  fbp_scan_cone() and its relatives
 * describe a scan without a file, and fbp_reconstruct() computes from memory to memory.
 *
 * Structs: structs of parameters and results begin with struct_size, which the program sets before
 * the call, as above; the macros fbp_recon_params(), fbp_picture_params() and fbp_simulate_params()
 * make their struct and set it.  In all other members 0 is the default.
 *
 * Errors: functions that can fail return fbp_status, 0 for success.  After a failure,
 * fbp_message() is one line with the fact and the remedy; each thread has its own message.  A
 * failed call leaves no file under the final name of an output, and sets the handle that it should
 * make to NULL.
 *
 * Ownership: fbp_X_create() and fbp_X_open() make an object, which the program frees with
 * fbp_X_destroy() or fbp_X_close(); both set the program's pointer to NULL, and accept NULL.  A
 * struct fbp_scan and a struct fbp_phantom own their members, which fbp_scan_clear() and
 * fbp_phantom_clear() free.  Arguments are copied, unless their description requires that they
 * outlive an object: a plan uses its scan, and a source or sink its memory, until it is freed.
 *
 * Threads: calls for different objects may run at the same time.  Calls for one object must not
 * overlap, except that several threads may read one source and write one sink.  Objects that are
 * only read (a scan, a phantom) may be shared.  The library computes in threads of its own, and
 * calls functions of the program from them: progress and log from one thread at a time.
 *
 * Cancellation: a thread attaches a struct fbp_stopper (types.h), and fbp_stopper_stop() of another
 * thread or of a signal handler cancels its calls.  A cancelled call returns FBP_ERR_CANCELLED, as
 * soon as possible.
 */
#ifndef FBP_FBP_H
#define FBP_FBP_H

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
