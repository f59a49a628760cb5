/** @file nifti.h  The parts of NIfTI (internal). */
#ifndef FBP_SRC_NIFTI_H
#define FBP_SRC_NIFTI_H

#include "array/file/format.h"

/** Types of elements, units of length, and codes of forms, by their numbers in headers. */
enum {
    FBP_NIFTI_UINT8 = 2,
    FBP_NIFTI_INT16 = 4,
    FBP_NIFTI_INT32 = 8,
    FBP_NIFTI_FLOAT32 = 16,
    FBP_NIFTI_FLOAT64 = 64,
    FBP_NIFTI_INT8 = 256,
    FBP_NIFTI_UINT16 = 512,
    FBP_NIFTI_UINT32 = 768
};
enum { FBP_NIFTI_METER = 1, FBP_NIFTI_MM = 2, FBP_NIFTI_MICRON = 3 };
enum { FBP_NIFTI_SCANNER = 1 };

/** A description that begins with this continues with the unit of the values. */
#define FBP_NIFTI_UNIT "fbp: unit "

extern const struct fbp_sink_format fbp_nifti_files[];

#endif /* FBP_SRC_NIFTI_H */
