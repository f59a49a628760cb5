/** @file adjust.h  Numbers of a geometry that are seldom known well, set on top of whatever says
 * where source and panel are: a file, matrices, a circle. */
#ifndef FBP_ADJUST_H
#define FBP_ADJUST_H

#include "fbp/scan.h"

FBP_BEGIN

/** What can be adjusted.  Where views differ (a C-arm), their mean gets the value and the
 *  differences stay. */
enum fbp_adjust {
    FBP_ADJUST_CENTRE, /**< column that the iso-centre falls on, from 0 */
    FBP_ADJUST_TILT, /**< further turn of the panel in its plane, right-handed about u x v [deg] */
    FBP_ADJUST_OFFSET, /**< panel's centre along +u, fbp_circle.offset_mm[0] [mm] */
    FBP_ADJUST_SOD,    /**< source to axis [mm]; the panel keeps its distance from the source */
    FBP_ADJUST_SDD,    /**< source to the panel's centre, along the ray to the axis [mm] */
};

enum { FBP_ADJUSTS = 5 };

/** "centre", "tilt", "offset", "sod", "sdd"; NULL beyond the last. */
FBP_API const char *fbp_adjust_name(size_t i);
/** "column", "deg", "mm" */
FBP_API const char *fbp_adjust_unit(enum fbp_adjust which);
/** The key of a scan file that says the same: what fbp_scan_confirm() takes. */
FBP_API const char *fbp_adjust_key(enum fbp_adjust which);

/** What the scan has now: mean over the views; 0 for the tilt.  @return FBP_ERR_INVALID. */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_get(const struct fbp_scan *scan, enum fbp_adjust which,
                                                 double *out);

/** Could a scan of this kind and panel have the value?  FBP_ERR_INVALID: no, and why. */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_check(const struct fbp_scan *scan,
                                                   enum fbp_adjust which, double value);

/** Set one of them in the scan's views.  @return as fbp_adjust_check(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_set(struct fbp_scan *scan, enum fbp_adjust which,
                                                 double value);

/** Set all that are not NaN: distances, then tilt, then offset or centre, so that these are what
 *  they are of the panel as it then stands.  @return as fbp_adjust_check(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_all(struct fbp_scan *scan,
                                                 const double values[FBP_ADJUSTS]);

/** Flip the views of a scan (enum fbp_flip).  @return FBP_ERR_INVALID: views of plane integrals
 *  have no rows, and do not turn. */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_flip(struct fbp_scan *scan, unsigned flips);

FBP_END

#endif /* FBP_ADJUST_H */
