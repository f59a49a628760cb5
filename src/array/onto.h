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

#endif /* FBP_SRC_ONTO_H */
