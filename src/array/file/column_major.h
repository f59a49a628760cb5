/** @file column_major.h  Arrays of MATLAB, whose first index runs fastest (internal). */
#ifndef FBP_SRC_COLUMN_MAJOR_H
#define FBP_SRC_COLUMN_MAJOR_H

#include "base/base.h"

#include <stddef.h>

/**
 * Write A(slice, row, column), column-major in memory, as [slice][row][column] into a file.
 *
 * n  columns, rows, slices
 */
fbp_status fbp_column_major_write(int fd, const char *path, const void *data, size_t size,
                                  const size_t n[3]);

#endif /* FBP_SRC_COLUMN_MAJOR_H */
