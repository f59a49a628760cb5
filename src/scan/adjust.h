/** @file adjust.h  Functions that get, check and set the geometry values that fbp_scan_adjust() can
 * change: column of the axis, tilt, detector offset, distances of the source (internal).
 * Used by: cli/, analysis/, pipeline/, scan/. */
#ifndef FBP_SRC_SCAN_ADJUST_H
#define FBP_SRC_SCAN_ADJUST_H

#include "fbp/scan.h"

/** Name of adjustment i: "centre", "tilt", "offset", "sod", "sdd"; NULL beyond the last. */
const char *fbp_adjust_name(size_t i);
/** Unit of an adjustment: "column", "deg" or "mm". */
const char *fbp_adjust_unit(enum fbp_adjust which);
/** Key of the scan file whose value an adjustment replaces, such as "detector.offset_mm", for
 * fbp_scan_confirm(). */
const char *fbp_adjust_key(enum fbp_adjust which);

/** Compute the present value of an adjustable quantity: mean over the views; 0 for the tilt.
 * @return errors of fbp_view_to_matrix(). */
fbp_status fbp_adjust_get(const struct fbp_scan *scan, enum fbp_adjust which, double *out);

/** Check whether a scan of this kind and panel can have the value of an adjustable quantity.
 * @return FBP_ERR_INVALID if not. */
fbp_status fbp_adjust_check(const struct fbp_scan *scan, enum fbp_adjust which, double value);

/** Change one adjustable quantity of all views by the same amount, such that its mean becomes
 * `value`; tilt: rotate the panels by `value` degrees.  @return as fbp_adjust_check(). */
fbp_status fbp_adjust_set(struct fbp_scan *scan, enum fbp_adjust which, double value);

/** Set all values that are not NaN, indexed by enum fbp_adjust.  Distances are set first, then the
 *  tilt, then offset and centre, which therefore refer to the adjusted panel.  @return as
 *  fbp_adjust_check(). */
fbp_status fbp_adjust_all(struct fbp_scan *scan, const double values[FBP_ADJUSTS]);

#endif /* FBP_SRC_SCAN_ADJUST_H */
