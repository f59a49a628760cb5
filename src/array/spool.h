/** @file spool.h  Floats on their way to an output of integers whose range is found from them
 * (internal).
 *
 * They are in a file of their own, NAME.values.raw.part beside the output NAME, with a journal as
 * any sink's, so that an interrupted run can be resumed; the output is written when all are there.
 */
#ifndef FBP_SRC_SPOOL_H
#define FBP_SRC_SPOOL_H

#include "array/file/format.h"

/**
 * The sink for the floats.  Name, folder and room of the output are tried first.
 *
 * output, info, params: as the output's sink will be opened, but for params->range.  "null:" has no
 * file.
 */
fbp_status fbp_spool_open(fbp_sink **values, const char *output, const struct fbp_array_info *info,
                          const struct fbp_sink_params *params);

/**
 * Least and greatest finite value of all that was written, as a range; that of a volume of one
 * value goes on above it.  Of "null:" *range holds the values already.
 * @return FBP_ERR_INVALID if there is no finite value
 */
fbp_status fbp_spool_range(const fbp_sink *values, double range[2]);

/**
 * All slices to the output's sink, `at_once` slices at a time.  stops: asked between them; nonzero:
 * FBP_ERR_CANCELLED.
 */
fbp_status fbp_spool_copy(const fbp_sink *values, fbp_sink *to, size_t at_once,
                          int (*stops)(void *user), void *user);

/** Close and set to NULL; nothing stays of it, also of what could be resumed. */
void fbp_spool_discard(fbp_sink **values);

#endif /* FBP_SRC_SPOOL_H */
