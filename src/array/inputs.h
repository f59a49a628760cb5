/** @file inputs.h  What an array or a scan is read from, so that nothing is written over it
 * (internal). */
#ifndef FBP_SRC_INPUTS_H
#define FBP_SRC_INPUTS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct fbp_scan;
struct fbp_source;

/** Names as sources are opened by: files, patterns, folders, "FILE:ARRAY". */
struct fbp_inputs {
    char **names;
    size_t n, room;
};

/** Append a copy of `name`, but not behind itself; NULL is nothing. */
fbp_status fbp_inputs_add(struct fbp_inputs *inputs, const char *name);

/** Append copies of all but the first `skip`. */
fbp_status fbp_inputs_add_all(struct fbp_inputs *inputs, const struct fbp_inputs *more,
                              size_t skip);

/** Hash names, sizes and times of all files onto *h. */
fbp_status fbp_inputs_hash(uint64_t *h, const struct fbp_inputs *inputs);

void fbp_inputs_clear(struct fbp_inputs *inputs);

/** Would writing the file `file` replace an input of this name, or one of its files, or become one
 *  of a folder's or pattern's files?  By device and inode: a link, or another way to write the
 * path, is the same file.  One that is still to come is known by its name only. */
fbp_status fbp_input_is(const char *input, const char *file, bool *is);

/** Note that a scan was read from this file, too. */
fbp_status fbp_scan_add_file(struct fbp_scan *scan, const char *path);

/** All that a scan is read from.  projections: opened already, else NULL. */
fbp_status fbp_scan_inputs(struct fbp_inputs *out, const struct fbp_scan *scan,
                           const struct fbp_source *projections);

#endif /* FBP_SRC_INPUTS_H */
