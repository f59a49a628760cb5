/** @file inputs.h  A list of what an array or a scan is read from (internal). */
#ifndef FBP_SRC_INPUTS_H
#define FBP_SRC_INPUTS_H

#include "base/base.h"

#include <stddef.h>
#include <stdint.h>

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

void fbp_inputs_clear(struct fbp_inputs *inputs);

#endif /* FBP_SRC_INPUTS_H */
