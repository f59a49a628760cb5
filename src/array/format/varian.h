/** @file varian.h  Headers of Varian's projections (.hnd, .hnc, .xim), for the format of arrays and
 * the import of scans (internal).
 * Used by: array/format/, scan/format/. */
#ifndef FBP_SRC_ARRAY_FORMAT_VARIAN_H
#define FBP_SRC_ARRAY_FORMAT_VARIAN_H

#include "base/base.h"

struct fbp_varian {
    size_t n[2];        /**< columns, rows */
    double pitch_mm[2]; /**< pixel pitch along rows and columns [mm]; 0: unknown */
    double angle_deg;   /**< CTProjectionAngle or KVSourceRtn; NaN: the file has none */
    double shift_mm[2]; /**< KVDetectorLat, KVDetectorLng of .xim [mm]; NaN: the file has none */
    double norm;        /**< reading of the dose chamber, KVNormChamber of .xim; 0: none */
    uint64_t data, data_bytes;   /**< position and size of the samples in the file */
    uint64_t table, table_bytes; /**< the same of the table of differences; size 0: none */
};

/** Read the header of a projection; the extension of its name determines the format. */
fbp_status fbp_varian_probe(const char *path, struct fbp_varian *out);

#endif /* FBP_SRC_ARRAY_FORMAT_VARIAN_H */
