/** @file adjust.h  Adjustment of geometry values that are often inaccurate, for any scan: from a
 * file, matrices or a circle.
 */
#ifndef FBP_ADJUST_H
#define FBP_ADJUST_H

#include "fbp/scan.h"

FBP_BEGIN

/** Values that can be adjusted.  If the value differs between views (a C-arm), its mean is set and
 *  the differences are kept. */
enum fbp_adjust {
    /** Detector column of the projected iso-centre, from 0; the panel moves along u. */
    FBP_ADJUST_CENTRE,
    /** Additional rotation of the panel in its plane, right-handed about u x v [deg]. */
    FBP_ADJUST_TILT,
    /** Panel's centre in the direction of the columns, perpendicular to axis and central ray
     *  (fbp_circle.offset_mm[0]) [mm]. */
    FBP_ADJUST_OFFSET,
    FBP_ADJUST_SOD, /**< source to axis [mm]; the distance from source to panel is kept */
    /** Source to the panel's centre, along the ray through the iso-centre [mm]. */
    FBP_ADJUST_SDD,
};

enum { FBP_ADJUSTS = 5 };

/** Name of adjustment i: "centre", "tilt", "offset", "sod", "sdd"; NULL beyond the last. */
FBP_API const char *fbp_adjust_name(size_t i);
/** Unit of an adjustment: "column", "deg" or "mm". */
FBP_API const char *fbp_adjust_unit(enum fbp_adjust which);
/** Equivalent key of a scan file, for fbp_scan_confirm(), such as "detector.offset_mm". */
FBP_API const char *fbp_adjust_key(enum fbp_adjust which);

/** Compute the present value: mean over the views; 0 for the tilt.  @return FBP_ERR_INVALID. */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_get(const struct fbp_scan *scan, enum fbp_adjust which,
                                                 double *out);

/** Check whether a scan of this kind and panel can have the value.  @return FBP_ERR_INVALID. */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_check(const struct fbp_scan *scan,
                                                   enum fbp_adjust which, double value);

/** Set one value in the views of a scan.  @return as fbp_adjust_check(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_set(struct fbp_scan *scan, enum fbp_adjust which,
                                                 double value);

/** Set all values that are not NaN, indexed by enum fbp_adjust.  Distances are set first, then the
 *  tilt, then offset and centre, which therefore refer to the adjusted panel.  @return as
 *  fbp_adjust_check(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_adjust_all(struct fbp_scan *scan,
                                                 const double values[FBP_ADJUSTS]);

/** Flip the views of a scan; flips: enum fbp_flip.  @return FBP_ERR_INVALID for plane integrals
 *  with FBP_FLIP_V or FBP_FLIP_DIRECTION, because they have neither rows nor a rotation. */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_flip(struct fbp_scan *scan, unsigned flips);

FBP_END

#endif /* FBP_ADJUST_H */
