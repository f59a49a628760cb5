/** @file bytes.h  Whole reads and writes, byte order, numbers as text (internal). */
#ifndef FBP_SRC_BYTES_H
#define FBP_SRC_BYTES_H

#include "fbp/array.h"

#include "base/base.h"

#include <stdio.h>

/** True where samples of this byte order must be swapped. */
bool fbp_is_foreign(bool big_endian);

/** n bytes at `offset`, interrupted and short reads mended; a file that ends early is an error. */
fbp_status fbp_read_at(int fd, const char *path, uint64_t offset, void *out, size_t n);

/** The same as far as the file reaches: *got <= n. */
fbp_status fbp_read_most(int fd, const char *path, uint64_t offset, void *out, size_t n,
                         size_t *got);

/** n bytes at `offset`, interrupted and short writes mended; a full disk names its remedy. */
fbp_status fbp_write_at(int fd, const char *path, uint64_t offset, const void *data, size_t n);

/** Write a text behind what was written to `fd`, all of it. */
fbp_status fbp_append(int fd, const char *path, const char *text);

/** Why a file could not be written, with the remedy: FBP_ERR_IO.
 *  error: an errno; bytes: those of the whole file, 0: not known. */
fbp_status fbp_fail_write(const char *path, int error, uint64_t bytes);

/** Open a regular file for reading; its size in *size. */
fbp_status fbp_open_file(const char *path, int *fd, uint64_t *size);

/** First bytes of a file, at most n; *got is 0 of a folder and where there is no file. */
fbp_status fbp_read_head(const char *path, void *head, size_t n, size_t *got);

/** stat(); *there: false if there is no such file.  That it cannot be known is an error. */
struct stat;
fbp_status fbp_stat(const char *path, struct stat *out, bool *there);

/** Is there such a file, as far as it may be known?  NULL is a name for which there was no memory.
 */
fbp_status fbp_is_there(const char *path, bool *there);

/** The whole of a text file without a byte order mark, with a final '\0' that *n does not count.
 *  free() it. */
fbp_status fbp_read_text(const char *path, size_t max_bytes, char **text, size_t *n);
/** The same of a file that is open, and stays so; path is for messages. */
fbp_status fbp_read_open_text(int fd, const char *path, size_t max_bytes, char **text, size_t *n);

/** Reverse the bytes of n elements of `size` in place. */
void fbp_swap_bytes(void *data, size_t size, size_t n);

/** n samples in native byte order, of any alignment, to float. */
void fbp_to_float(enum fbp_type type, const void *in, size_t n, float *out);

/** The same, as scale * number + offset; in double, as a float does not hold all 32-bit integers.
 */
void fbp_to_scaled(enum fbp_type type, double scale, double offset, const void *in, size_t n,
                   float *out);

/** n samples in native byte order to the doubles that they stand for: scaled, unless scale is 0.
 * `in` may end where `out` does. */
void fbp_to_double(enum fbp_type type, double scale, double offset, const void *in, size_t n,
                   double *out);

/** Bytes of all samples of a header; FBP_ERR_INVALID if a size is 0 or the product overflows. */
fbp_status fbp_array_bytes(const char *path, const struct fbp_array_info *info, uint64_t *bytes);

/** strtod() with a decimal point in every locale. */
double fbp_number(const char *text, char **end);

/** "%.17g" with a decimal point in every locale; returns buf. */
char *fbp_number_text(char buf[32], double x);

#endif /* FBP_SRC_BYTES_H */
