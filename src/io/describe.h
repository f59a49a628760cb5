/** @file describe.h  What a format has no place for, as a line of JSON in it or beside it
 * (internal).
 */
#ifndef FBP_SRC_DESCRIBE_H
#define FBP_SRC_DESCRIBE_H

#include "fbp/array.h"

/** malloc'ed {"fbp": 1, "type": …, "size": …, …} of type, size, row order, unit, scale and place;
 *  NULL when out of memory. */
char *fbp_describe(const struct fbp_array_info *info);

/**
 * Fill in row order, unit, scale and place from text[n], if it is such a line, all of it is valid
 * and it has the type of *info (NONE: any).
 *
 * sized: its size must be that of *info, too; else a slice of a larger volume will do.
 * @return false: *info is as it was
 */
bool fbp_described(const char *text, size_t n, bool sized, struct fbp_array_info *info);

#endif /* FBP_SRC_DESCRIBE_H */
