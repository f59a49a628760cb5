/** @file ways.h  What an output's name excludes, before anything is opened (internal). */
#ifndef FBP_SRC_WAYS_H
#define FBP_SRC_WAYS_H

#include "array/file/format.h"

/** How an output is to be written. */
struct fbp_ways {
    bool parts;    /**< by processes that know nothing of each other, or together */
    bool compress; /**< where its format can */
};

/**
 * Can an output of this name be written so?  A name of no format is for whoever opens it to refuse.
 *
 * format  of the file; NULL: the one that has such names
 * @return FBP_OK, FBP_ERR_UNSUPPORTED or FBP_ERR_INVALID with a message, FBP_ERR_NOMEM.
 */
fbp_status fbp_ways_check(const char *path, const struct fbp_sink_format *format,
                          const struct fbp_ways *ways);

#endif /* FBP_SRC_WAYS_H */
