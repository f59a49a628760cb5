/** @file nifti.h  The parts of NIfTI (internal). */
#ifndef FBP_SRC_NIFTI_H
#define FBP_SRC_NIFTI_H

#include "array/file/format.h"

/** A description that starts like this goes on with the unit of the values. */
#define FBP_NIFTI_UNIT "fbp: unit "

extern const struct fbp_sink_format fbp_nifti_files[];

#endif /* FBP_SRC_NIFTI_H */
