/** @file png_encode.h  How PNG is written (internal). */
#ifndef FBP_SRC_PNG_ENCODE_H
#define FBP_SRC_PNG_ENCODE_H

#include "array/file/format.h"

extern const struct fbp_slice_format fbp_png_slices;

#endif /* FBP_SRC_PNG_ENCODE_H */
