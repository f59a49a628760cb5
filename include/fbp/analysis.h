/** @file analysis.h  fbp_centre_find(): the detector column of the rotation axis, found from the
 * views of a scan.  Programs, bindings and cli/recon.c (`fbp recon --centre auto`) call it. */
#ifndef FBP_ANALYSIS_H
#define FBP_ANALYSIS_H

#include "fbp/recon.h"

FBP_BEGIN

/** Result of fbp_centre_find().  Detector columns are counted from 0. */
struct fbp_centre {
    size_t struct_size;
    double column;  /**< result: detector column of the rotation axis (mean over the views of the
                       column of the projected iso-centre) */
    double by_rays; /**< detector column for which conjugate rays (the same line, measured from both
                       ends) agree best */
    /** Detector column for which reconstructed slices are sharpest; NaN: no slices were needed. */
    double by_slice;
    /** Range of the four columns that conjugate rays yield in four parts of the views [columns]. */
    double spread;
    /** Misfit of conjugate rays a, b: sum of (a - b)^2 / sum of (a^2 + b^2); 0: they agree. */
    double misfit;
    /** Another detector column that is nearly as likely as the column found; NaN: none. */
    double rival;
    bool sure; /**< true: the column is reliable; false: `why` states why it is not */
    /** Reason why the column found is not reliable, one sentence; "": it is reliable. */
    char why[300];
    /** Half a turn of parallel beams: detector column for which all views and their mirror images
     * are consistent with one object; NaN: not computed, or not determined by the views. */
    double by_turn;
    /** About one standard deviation of `column` [columns], estimated from differences between parts
     * of the data; INFINITY: the data do not determine the column, and `column` is that of the scan
     * file. */
    double uncertainty;
};

/**
 * Find the detector column of the rotation axis.  The scan's own column is not used, unless nothing
 * else determines the column (a round object, views without an order): then it is the result.
 *
 * Conjugate rays, which are measured twice, once from each end, have equal values only for the
 * right column.  In half a turn of parallel beams, the mirror images of the first views continue
 * the last views, and all views together must be consistent with one function over the whole turn.
 * If these methods give no reliable result, slices are reconstructed for columns near it, and the
 * sharpest is searched.  The values are those of a reconstruction: after dark, flat, logarithm and
 * bad pixels.
 *
 * params  device, threads, memory, progress and source are used; NULL: defaults
 * @return FBP_OK, also if out->sure is false; FBP_ERR_UNSUPPORTED if no ray is measured from both
 *         ends, for filtered views, and for plane integrals; else as fbp_plan_create().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_centre_find(const struct fbp_scan *scan,
                                                  const struct fbp_recon_params *params,
                                                  struct fbp_centre *out);

/** Values of the geometry that fbp_calibrate() determines. */
enum fbp_calibrated {
    /** Detector column, from 0, of the projected iso-centre (mean over the views). */
    FBP_CALIBRATED_COLUMN = 0,
    /** Detector row, from 0 at the bottom, of the projected iso-centre (mean over the views). */
    FBP_CALIBRATED_ROW,
    /** Rotation of the panel about its normal, in addition to that of the scan [deg]; as
     * FBP_ADJUST_TILT. */
    FBP_CALIBRATED_ROLL,
    /** Rotation of the panel about its rows (PITCH) and about its columns (YAW), in addition to
     * that of the scan [deg]; directions as struct fbp_circle's tilt_rad. */
    FBP_CALIBRATED_PITCH,
    FBP_CALIBRATED_YAW,
    /** Distance from the source to the panel, along the ray through the iso-centre [mm]. */
    FBP_CALIBRATED_SDD,
    /** Angle between the first and the last view about the axis [deg]. */
    FBP_CALIBRATED_ARC,
    FBP_CALIBRATED_COUNT
};

/** One value that fbp_calibrate() determines. */
struct fbp_estimate {
    /** Value found; that of the scan if it is not observable, or if both differ by less than the
     * uncertainty (column, row and roll excepted). */
    double value;
    double before;      /**< value according to the scan */
    double uncertainty; /**< half of the 95 % confidence interval */
    bool observable;    /**< false: the views do not determine the value, and it is kept */
};

/** Movement of the panel, or of the object, between views, along one direction of the panel. */
struct fbp_drift {
    bool observable; /**< false: the views do not determine it */
    bool slow;    /**< false: only movement within about an eighth of the scan is determined (cone
                     beams: along rows, and in less than a full turn along columns, too) */
    bool found;   /**< true: the movement is significant, and the corrected scan contains it */
    double range; /**< greatest minus least offset of a view [pixels] */
    double uncertainty; /**< half of the 95 % confidence interval of one view's offset [pixels] */
};

/** Result of fbp_calibrate(). */
struct fbp_calibration {
    size_t struct_size;
    struct fbp_estimate values[FBP_CALIBRATED_COUNT];
    /** True: the views fit the opposite direction of rotation, or, which is the same except for a
     * mirrored volume, reversed columns. */
    bool reversed;
    bool sense_known; /**< false: the views do not determine the direction of rotation */
    bool reliable;    /**< false: the values are doubtful; `why` says why */
    /** Inconsistency of the views with the geometry of the scan, and with the geometry found: root
     * of the mean square difference of compared values, as a part of their root mean square. */
    double misfit_before, misfit;
    const char *method;        /**< name of the method, a static text */
    char why[400];             /**< reasons for doubts, and what is not observable; "": none */
    struct fbp_drift drift[2]; /**< along rows (u) and along columns (v) of the panel, for
                                  fbp_calibrate_drift() */
};

/** Get the name of a calibrated value, such as "roll", and its unit, such as "deg". */
FBP_API const char *fbp_calibrated_name(enum fbp_calibrated which);
FBP_API const char *fbp_calibrated_unit(enum fbp_calibrated which);

/**
 * Determine the geometry of a circular scan from its views, without a phantom.
 *
 * Cone beams: pairs of views must agree on the plane integrals that both determine (epipolar
 * consistency, Aichert et al., IEEE Trans. Med. Imaging 34 (2015) 2205), and rays in the plane of
 * the sources with the rays that are measured from the opposite side.  Parallel beams: a line is
 * fitted to the columns of the axis at several heights, and rows at right angles to the axis must
 * be consistent.  The scale (distance from source to axis) is not observable without a known length.
 *
 * params          threads and source are used; NULL: defaults
 * @param[out] corrected  the scan with the geometry found; it is overwritten, and empty on failure;
 *                 NULL: not needed
 * @return FBP_OK, also if out->reliable is false; else as fbp_centre_find().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_calibrate(const struct fbp_scan *scan,
                                                const struct fbp_recon_params *params,
                                                struct fbp_calibration *out,
                                                struct fbp_scan *corrected);

/**
 * Determine the geometry of a cone-beam scan of a phantom: at least two small dense beads, at
 * unknown positions, in or on an object of low density.  Positions and geometry are fitted to the
 * centroids of the beads, which trace ellipses on the panel (Noo et al., Phys. Med. Biol. 45 (2000)
 * 3489).  Parameters and return values are those of fbp_calibrate().
 * @return FBP_ERR_UNSUPPORTED also if the views show fewer than two beads, or
 *         are not a cone beam of at least 24 views and rows.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_calibrate_beads(const struct fbp_scan *scan,
                                                      const struct fbp_recon_params *params,
                                                      struct fbp_calibration *out,
                                                      struct fbp_scan *corrected);

/**
 * Determine the geometry as fbp_calibrate() does, and movement of the panel or of the object
 * between views (drift of the source, a stage that jitters).  The views of *corrected contain an
 * offset of the panel per view; out->drift describes the offsets.
 *
 * Parallel beams: sums along rows must agree but for a shift along columns, and centres of mass
 * along rows must move like a sine of the angle (Helgason, The Radon Transform (1980); Ludwig,
 * Comm. Pure Appl. Math. 19 (1966) 49).  Cone beams: offsets along columns from epipolar
 * consistency; fast movement along rows from centres of mass.  They are left out if pairs of views
 * do not agree clearly better with them.  Not observable: a constant (the column and the row); a
 * sine of the angle along rows (movement of the whole object); of cone beams, slow movement along
 * rows, in less than a full turn along columns a sine about the middle of the arc, and yaw,
 * distance and arc of a panel that moves; anything along rows if the object is wider than the
 * panel; scans of less than 24 rows. The uncertainty of the row of a moving cone-beam scan
 * comes from simulated scans.  Parameters and return values are those of fbp_calibrate().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_calibrate_drift(const struct fbp_scan *scan,
                                                      const struct fbp_recon_params *params,
                                                      struct fbp_calibration *out,
                                                      struct fbp_scan *corrected);

FBP_END

#endif /* FBP_ANALYSIS_H */
