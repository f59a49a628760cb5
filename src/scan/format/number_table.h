/** @file number_table.h  Tables of numbers in files of any format (internal). */
#ifndef FBP_SRC_NUMBER_TABLE_H
#define FBP_SRC_NUMBER_TABLE_H

#include "fbp/scan.h"

/** Rows of `width` numbers in plain text, CSV too, of which a first line of names is left out.
 *  what: "3 numbers a direction", for messages.  free(*out), which holds *n * width. */
fbp_status fbp_number_rows_load(const char *path, size_t width, const char *what, double **out,
                                size_t *n);

/** The same, also from arrays (NPY, "FILE.mat:NAME" …): [n][width], or [width][n] as MATLAB stores
 *  its columns.  Numbers of type float64 stay what they are. */
fbp_status fbp_number_table_load(const char *path, size_t width, const char *what, double **out,
                                 size_t *n);

#endif /* FBP_SRC_NUMBER_TABLE_H */
