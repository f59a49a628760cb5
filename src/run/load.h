/** @file load.h  Reading a batch in canonical row order (internal). */
#ifndef FBP_SRC_LOAD_H
#define FBP_SRC_LOAD_H

#include "run/look.h"

/** out: [n_views][load_rows][n_columns] of the job's raw type, row index growing with +v
 *  (backend/rows.h); by the threads of pool, if it is not NULL.  Who has read a view looks at it,
 *  if `look` is not NULL, while it is in a cache. */
fbp_status fbp_load(fbp_source *source, bool top_down, const struct fbp_job *job,
                    const struct fbp_batch *batch, fbp_pool *pool, fbp_look *look, void *out);

#endif /* FBP_SRC_LOAD_H */
