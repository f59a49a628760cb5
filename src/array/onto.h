/** @file onto.h  What every source that reads from another one has of that (internal). */
#ifndef FBP_SRC_ONTO_H
#define FBP_SRC_ONTO_H

#include "array/file/format.h"

/**
 * src reads from `below`: it has its name and its files, and tells how much of which type is stored
 * in those.  A source that fails here is closed by the caller, as any other.
 *
 * @return FBP_OK, FBP_ERR_NOMEM.
 */
fbp_status fbp_source_onto(fbp_source *src, fbp_source *below);

/** What makes a source on top of `below`, of `what`. */
typedef fbp_status fbp_source_set_up(fbp_source *src, const void *what, fbp_source *below);

/**
 * A new source that set_up() makes; it has no file of its own.
 *
 * below: must outlive *out; owned: it is closed with it, also if this fails
 * @return FBP_ERR_NOMEM, or what set_up() returns.
 */
fbp_status fbp_source_over(fbp_source **out, fbp_source_set_up *set_up, const void *what,
                           fbp_source *below, bool owned);

#endif /* FBP_SRC_ONTO_H */
