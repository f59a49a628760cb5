/** @file values.h  Numbers in one run of a file: as they are, or as the values they stand for
 * (internal). */
#ifndef FBP_SRC_VALUES_H
#define FBP_SRC_VALUES_H

#include "fbp/array.h"

#include "base/base.h"

/** Of a call that gives n values: are they to be stored past the caches?  They are read later, when
 *  no cache would have so many. */
bool fbp_past_caches(size_t n);

/** n numbers of info->type, in native byte order, to values. */
void fbp_to_values(const struct fbp_array_info *info, const void *in, size_t n, bool past_caches,
                   float *out);

/** n numbers from `at` on, in native byte order. */
fbp_status fbp_read_numbers(int fd, const char *path, uint64_t at,
                            const struct fbp_array_info *info, size_t n, void *out);

/** n numbers from `at` on, as values. */
fbp_status fbp_read_values(int fd, const char *path, uint64_t at, const struct fbp_array_info *info,
                           size_t n, float *out);

#endif /* FBP_SRC_VALUES_H */
