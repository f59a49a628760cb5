/** @file describe.h  What a format has no place for, as a line of JSON in it or beside it
 * (internal).
 */
#ifndef FBP_SRC_DESCRIBE_H
#define FBP_SRC_DESCRIBE_H

#include "array/file/format.h"

/** malloc'ed {"fbp": 1, "type": …, "size": …, …} of type, size, row order, unit, scale and place;
 *  NULL when out of memory. */
char *fbp_describe(const struct fbp_array_info *info);

/**
 * Fill in row order, unit, scale and place from text[n], if it is such a line, all of it is valid
 * and it has the type of *info (NONE: type and size are filled in, too).
 *
 * sized: its size must be that of *info, too; else a slice of a larger volume will do.
 * ours: was it?  If not, *info is as it was.
 * @return FBP_ERR_NOMEM: nobody knows
 */
fbp_status fbp_described(const char *text, size_t n, bool sized, struct fbp_array_info *info,
                         bool *ours);

/** The same from PATH.json, the file beside `path`, if there is one; with type NONE type and size
 * are filled in, too.  FBP_ERR_IO: it is there, but cannot be read. */
fbp_status fbp_described_beside(const char *path, struct fbp_array_info *info, bool *ours);

/**
 * A sentence into info->missing: `n` of `all` chunks (`what`: "chunks are missing") are not there.
 * lacks: 1 for each slice of the array that they are a part of; NULL: not known
 */
void fbp_describe_missing(const char *path, size_t n, size_t all, const char *what,
                          const unsigned char *lacks, struct fbp_array_info *info);

/** Its name and text into *out, for formats whose header has no place for a scale. */
fbp_status fbp_describe_beside(const char *path, const struct fbp_array_info *info,
                               struct fbp_layout *out);

#endif /* FBP_SRC_DESCRIBE_H */
