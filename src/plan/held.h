/** @file held.h  Whether devices can have the buffers of a division at all (internal; pure).
 *
 * What memory they take is counted elsewhere (work.c): these are limits of single buffers, however
 * much memory is free.  `why` gets the sentence of the first device that cannot.
 */
#ifndef FBP_SRC_HELD_H
#define FBP_SRC_HELD_H

#include "plan/work.h"

enum { FBP_HELD_WHY = 300 };

/** What the job needs beside buffers; else FBP_ERR_UNSUPPORTED. */
fbp_status fbp_held_tables(const struct fbp_work_request *rq);

/** A slab of so many bytes. */
bool fbp_held_slab(const struct fbp_work_request *rq, size_t bytes, char why[FBP_HELD_WHY]);

/** Batches, read and filtered, of a division whose buffers are set. */
bool fbp_held_views(const struct fbp_work *w, const struct fbp_work_request *rq,
                    char why[FBP_HELD_WHY]);

/** The same, of views that are filtered into a file. */
bool fbp_held_rows(const struct fbp_work *w, const struct fbp_work_request *rq,
                   char why[FBP_HELD_WHY]);

#endif /* FBP_SRC_HELD_H */
