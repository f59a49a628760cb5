/** @file adjust.h  Correction of geometry values that are seldom known well, for any scan: from a
 * file, matrices or a circle. */
#ifndef FBP_ADJUST_H
#define FBP_ADJUST_H

#include "fbp/scan.h"

FBP_BEGIN

/** Values that can be adjusted.  If views differ (a C-arm), their mean gets the value and the
 *  differences stay. */
enum fbp_adjust {
    FBP_ADJUST_CENTRE, /**< column of the projected iso-centre, from 0 */
    FBP_ADJUST_TILT,   /**< additional rotation of the panel in its plane, right-handed about u x v
                          [deg] */
    FBP_ADJUST_OFFSET, /**< panel's centre along +u, fbp_circle.offset_mm[0] [mm] */
    FBP_ADJUST_SOD,    /**< source to axis [mm]; the panel keeps its distance from the source */
    FBP_ADJUST_SDD,    /**< source to the panel's centre, along the ray to the axis [mm] */
};

enum { FBP_ADJUSTS = 5 };

/** "centre", "tilt", "offset", "sod", "sdd"; NULL beyond the last. */
FBP_API const char *fbp_adjust_name(size_t i);
/** "column", "deg", "mm" */
FBP_API const char *fbp_adjust_unit(enum fbp_adjust which);
/** Equivalent key of a scan file, for fbp_scan_confirm(). */
FBP_API const char *fbp_adjust_key(enum fbp_adjust which);

/** Present value: mean over the views; 0 for the tilt.  @return FBP_ERR_INVALID. */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_get(const struct fbp_scan *scan, enum fbp_adjust which,
                                                 double *out);

/** Check whether a scan of this kind and panel can have the value.  @return FBP_ERR_INVALID. */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_check(const struct fbp_scan *scan,
                                                   enum fbp_adjust which, double value);

/** Set one of them in the scan's views.  @return as fbp_adjust_check(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_set(struct fbp_scan *scan, enum fbp_adjust which,
                                                 double value);

/** Set all values that are not NaN: distances, then tilt, then offset or centre, which therefore
 *  refer to the adjusted panel.  @return as fbp_adjust_check(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_all(struct fbp_scan *scan,
                                                 const double values[FBP_ADJUSTS]);

/** Flip the views of a scan (enum fbp_flip).  @return FBP_ERR_INVALID for plane integrals, which
 *  have neither rows nor a rotation. */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_flip(struct fbp_scan *scan, unsigned flips);

FBP_END

#endif /* FBP_ADJUST_H */
